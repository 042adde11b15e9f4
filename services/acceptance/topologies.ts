import { describe } from 'vitest'
import type { Topology } from './product.ts'
import { describeWith } from './servers.ts'

/** The same promises in both shapes of the product: one process, and services apart on real servers. */
export const describeOnTopologies = (name: string, body: (topology: Topology) => void): void => {
  describe(`${name}, in one process`, () => body('memory'))
  describeWith(['nats', 'redis', 'postgres'], `${name}, in several processes`, () => body('nats'))
}
