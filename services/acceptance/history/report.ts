/** Runs a check and prints whether it passes. A failed check does not end the run. */
export type Report = (name: string, check: () => Promise<unknown>) => Promise<void>

/** Prints each check with its duration. A failure sets the exit code. */
export const reportCheck: Report = async (name, check) => {
  const startedMs = performance.now()
  const took = () => `${((performance.now() - startedMs) / 1_000).toFixed(1)} s`
  try {
    const result = await check()
    const detail = typeof result === 'string' ? `: ${result}` : ''
    process.stdout.write(`ok    ${name}${detail} (${took()})\n`)
  } catch (error) {
    process.exitCode = 1
    process.stdout.write(`FAILS ${name} (${took()}): ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
