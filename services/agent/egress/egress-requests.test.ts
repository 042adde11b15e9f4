import { describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { Run, runLimits } from '../runs/run.ts'
import { openEgressRequests } from './egress-requests.ts'

const ada: Identity = { kind: 'user', subject: 'ada', features: 'all' }
const startRun = () => new Run(`agent-1.${'r'.repeat(22)}`, ada, runLimits)

describe('an egress request', () => {
  it('expires when its run ends, and immediately if the run has ended', async () => {
    const run = startRun()
    const requests = openEgressRequests()
    const { id, decision } = requests.open(run)
    run.stop('requested')
    expect(await decision).toBe('expired')
    const late = requests.open(run)
    expect(await late.decision).toBe('expired')
    for (const each of [id, late.id]) expect(() => requests.decide(each, ada, true)).toThrow('no longer open')
    run.end()
  })

  it('is decided once, by the owner of the run', async () => {
    const run = startRun()
    const requests = openEgressRequests()
    const { id, decision } = requests.open(run)
    expect(() => requests.decide(id, { ...ada, subject: 'grace' }, true)).toThrow('no longer open')
    expect(() => requests.decide(id, { ...ada, kind: 'key' }, true)).toThrow('an API key cannot approve')
    requests.decide(id, ada, true)
    expect(await decision).toBe('approved')
    expect(() => requests.decide(id, ada, false)).toThrow('no longer open')
    run.end()
  })
})
