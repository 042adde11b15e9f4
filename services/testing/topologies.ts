import { describe, vi } from 'vitest'
import type { Topology } from './product.ts'
import { describeWith } from './describe-with.ts'

/** Timeout of tests that start several processes on a busy machine, in milliseconds. */
const withinMs = 90_000
/** Timeout of tests that start the eight processes of the chart one at a time, in milliseconds. */
const deployedWithinMs = 300_000

/**
 * Runs the same tests in one process and, with the tag `long`, with separate services on real servers.
 * `npm run test:deployed` runs them on the processes of the chart instead.
 */
export const describeOnTopologies = (name: string, body: (topology: Topology) => void): void => {
  vi.setConfig({ testTimeout: withinMs, hookTimeout: withinMs })
  if (process.env.TEST_TOPOLOGY === 'chart') {
    vi.setConfig({ testTimeout: deployedWithinMs, hookTimeout: deployedWithinMs })
    return describeWith(['nats', 'redis', 'postgres', 'helm'], `${name}, as the chart deploys it`, () => body('chart'))
  }
  describe(`${name}, in one process`, () => body('memory'))
  describeWith(['nats', 'redis', 'postgres'], `${name}, in several processes`, () => body('nats'), ['long'])
}
