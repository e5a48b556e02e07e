/** What `fencepost check --help` says beyond its options: models, formats, exit codes. */

export const CHECK_HELP: string = `
Models:
  register, cas-register, versioned-register, kv, counter, semaphore, lease, mutex,
  anonymous-mutex, reentrant-mutex, fenced-mutex, reentrant-fenced-mutex, fenced-register,
  strict-fenced-register, fenced-register-with-reads

Formats:
  jepsen-log  INFO  jepsen.util - 3 :invoke :write 4
  porcupine   {:process 3, :type :invoke, :f :put, :key "x", :value "4"}
  edn         the events of Jepsen, Knossos, Maelstrom: a map each, or one vector of them
  json        [{"process":3,"type":"invoke","f":"write","value":4}, …]
  operations  {"ClientId":3,"Input":{"op":"put","key":"x","value":"4"},"Call":10,"Return":30}
  jsonl       fencepost's own, a line an event, in the order in which they happened:
              {"process":"alice","type":"invoke","f":"write","value":4,"token":33}
              {"process":"alice","type":"ok","f":"write","answer":"refused"}
  In jsonl, type is invoke, ok, fail (it did not happen) or info (nobody knows). An invoke says
  what is asked: value (of a cas [expected, new]), key or lock or resource, token, permits. Its
  completion says what is answered: value, token, version, answer (denied, refused, missed).

Exit codes: 0 valid, 1 invalid, 2 unreadable, 5 unknown.`;
