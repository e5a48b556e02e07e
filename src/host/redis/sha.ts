/** The name by which Redis knows a script. */
import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** SHA-1 of a text, in hexadecimal. */
export function shaOf(text: string): string {
  return bytesToHex(sha1(utf8ToBytes(text)));
}
