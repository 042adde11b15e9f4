import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ground, openGround } from './alerts/ground.ts'
import { play } from './alerts/scenario.ts'
import { scenarios, upheavals } from './alerts/scenarios.ts'
import type { Topology } from './product.ts'
import { describeWith } from './servers.ts'

const operator = (topology: Topology) => () => {
  let ground: Ground
  beforeAll(async () => {
    ground = await openGround(topology)
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  it.each(Object.entries({ ...scenarios, ...upheavals }))('%s', async (_sentence, scenario) => {
    const logged = await play(await ground.next(), scenario)
    expect(logged).not.toContain('"level":"error"')
  })
}

describe('an operator, with all in memory', operator('memory'))
describeWith(['nats', 'redis', 'postgres'], 'an operator, with real servers', operator('nats'))
