import { describe, expect, it } from 'vitest'
import { RepldbStatus, repldbMirrorStates } from '#proto/repldb.ts'
import { mirrorTones, formatMirrorState, statusAdvice } from './mirror-text.ts'

describe('replication texts', () => {
  it('give advice for every failure', () => {
    const troubled = RepldbStatus.shape.status.options.filter((status) => status !== 'connected')
    expect(Object.keys(statusAdvice).toSorted()).toEqual(troubled.toSorted())
    for (const { steps } of Object.values(statusAdvice)) expect(steps.join(' ')).toMatch(/REPLDB_[A-Z_]+/)
  })

  it.each(repldbMirrorStates)('describe a mirror in state %s', (state) => {
    expect(formatMirrorState(state)).toMatch(/^[A-Z][a-z ]+$/)
    expect(mirrorTones[state]).toMatch(/^(bad|warn|good|quiet)$/)
  })
})
