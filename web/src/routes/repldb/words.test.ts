import { describe, expect, it } from 'vitest'
import { RepldbStatus, repldbMirrorStates } from '#proto/repldb.ts'
import { mirrorTones, stateWord, statusAdvice } from './words.ts'

describe('the words of the replication service', () => {
  it('say what to do in every state in which there is something to do', () => {
    const troubled = RepldbStatus.shape.status.options.filter((status) => status !== 'connected')
    expect(Object.keys(statusAdvice).toSorted()).toEqual(troubled.toSorted())
    for (const { steps } of Object.values(statusAdvice)) expect(steps.join(' ')).toMatch(/REPLDB_[A-Z_]+/)
  })

  it.each(repldbMirrorStates)('tell of a mirror that is %s', (state) => {
    expect(stateWord(state)).toMatch(/^[A-Z][a-z ]+$/)
    expect(mirrorTones[state]).toMatch(/^(bad|warn|good|quiet)$/)
  })
})
