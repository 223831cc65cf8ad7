import process from "node:process";

/** Collects garbage, and resolves to the bytes in use after it, of the heap and of buffers. */
export async function heap(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    (globalThis as { gc?: () => void }).gc!();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
