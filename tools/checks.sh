#!/usr/bin/env bash
# What no test looks at, in two lanes beside one another. Both end and say what they have to say,
# whichever of them fails.
set -uo pipefail

npm run check &
npm run check:package
package=$?
wait $! && exit "$package"
