import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ground, openGround } from './alerts/ground.ts'
import { type Scenario, play } from './alerts/scenario.ts'
import { describeOnTopologies } from './topologies.ts'

const fire = 'WARNING: disk on one'
const worse = 'CRITICAL: disk on one'
const still = 'STILL WARNING: disk on one'
const over = 'RECOVERED: disk on one'

const [low, high, worst] = [{ 'one/disk': 50 }, { 'one/disk': 85 }, { 'one/disk': 95 }]

const scenarios: Record<string, Scenario> = {
  'fires once, and recovers after two quiet sweeps': {
    moments: [
      { measured: low },
      { after: 5, measured: high, told: [fire] },
      { after: 5, measured: high },
      { after: 5, measured: low },
      { after: 5, measured: low, told: [over] },
      { after: 5, measured: low },
    ],
  },
  'reminds when the cooldown is over, without a sweep': {
    moments: [
      { measured: high, told: [fire] },
      { after: 59 },
      { after: 1, told: [still] },
      { after: 30, measured: high },
      { after: 30, told: [still] },
    ],
  },
  'escalates at once, sinks silently, and rises again as an escalation': {
    moments: [
      { measured: high, told: [fire] },
      { after: 5, measured: worst, told: [worse] },
      { after: 5, measured: high },
      { after: 5, measured: worst, told: [worse] },
    ],
  },
}

describeOnTopologies('an operator', (topology) => {
  let ground: Ground
  beforeAll(async () => {
    ground = await openGround(topology)
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  it.each(Object.entries(scenarios))('%s', async (_name, scenario) => {
    await expect(play(await ground.next(), scenario)).resolves.not.toContain('"level":"error"')
  })
})
