export function installPackage(from: string, to: string): string | null;
