export function hidden(entry: string): readonly string[];
