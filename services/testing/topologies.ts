import { describe, vi } from 'vitest'
import type { Topology } from './product.ts'
import { describeWith } from './servers.ts'

/** A test here starts several real processes, on machines that do other things besides. */
const withinMs = 90_000
/** Eight processes, one after another. */
const deployedWithinMs = 300_000

/**
 * The same promises in both shapes of the product: one process, and, as a long form, services apart on real servers. `npm run test:deployed`
 * asks them of what the chart deploys instead.
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
