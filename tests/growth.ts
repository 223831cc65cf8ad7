/** How much larger the larger input is. */
const FACTOR = 8;

/** The shortest times that are told apart, in milliseconds. */
const NOISE = 5;

/**
 * Asserts that the time of some work grows about as its input does, and not as its square.
 *
 * Each size has its fastest time of some rounds, because other programs can only slow it down.
 */
export async function expectLinear(
  work: (size: number) => unknown,
  size: number,
): Promise<void> {
  const measure = async (size: number) => {
    const start = performance.now();
    await work(size);
    return performance.now() - start;
  };
  await measure(size); // lets the runtime compile
  let [small, large] = [Infinity, Infinity];
  for (let round = 0; round < 10; round++) {
    small = Math.min(small, await measure(size));
    large = Math.min(large, await measure(FACTOR * size));
    if (large <= 3 * FACTOR * small + NOISE) return;
  }
  throw new Error(`${FACTOR} times the input takes ${large} ms in place of ${small} ms`);
}
