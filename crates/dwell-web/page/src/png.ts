const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHUNK_OVERHEAD = 12;

/** Where the pixels of a PNG begin; what a picture says of itself is before that. `null` if it is no PNG. */
export function startOfPixels(bytes: Uint8Array): number | null {
  if (PNG_SIGNATURE.some((byte, i) => bytes[i] !== byte)) return null;
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = PNG_SIGNATURE.length;
  while (at + CHUNK_OVERHEAD <= bytes.length) {
    const kind = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (kind === "IDAT" || kind === "IEND") return at;
    at += CHUNK_OVERHEAD + data.getUint32(at);
  }
  return null;
}

/** Empty chunks IDAT and IEND with their checksums: a reader of the texts of a picture expects both. */
export const END_OF_PNG = [
  0, 0, 0, 0, 0x49, 0x44, 0x41, 0x54, 0x35, 0xaf, 0x06, 0x1e, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60,
  0x82,
];
