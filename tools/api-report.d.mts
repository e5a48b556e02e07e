export function hidden(entry: string): readonly string[];
export function undocumented(entry: string): readonly string[];
