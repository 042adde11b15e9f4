import { describe, expect, it } from 'vitest'
import { type Setting, whole } from '#shared/config/setting.ts'
import { remembered } from './remembered.ts'

describe('settings that are remembered', () => {
  const open = (env: Record<string, string>) => {
    let parsed = 0
    const counted: Setting<number> = {
      ...whole(1, 'A number.'),
      parse: (text) => {
        parsed += 1
        return whole(1, 'A number.').parse(text)
      },
    }
    return { env, values: remembered({ A: counted, B: counted }, env), parsed: () => parsed }
  }

  it('are parsed once as long as they stay', () => {
    const { values, parsed } = open({ A: '2' })
    for (let time = 0; time < 3; time += 1) expect(values()).toEqual({ A: 2, B: 1 })
    expect(parsed()).toBe(2)
  })

  it('follow their variables', () => {
    const { env, values } = open({ A: '2' })
    values()
    env.B = '3'
    expect(values()).toEqual({ A: 2, B: 3 })
    delete env.A
    expect(values()).toEqual({ A: 1, B: 3 })
  })

  it('are refused as long as one cannot be obeyed, and no longer', () => {
    const { env, values } = open({ A: '2' })
    values()
    env.A = 'many'
    expect(values).toThrow('A: must be')
    expect(values).toThrow('A: must be')
    env.A = '2'
    expect(values()).toEqual({ A: 2, B: 1 })
  })
})
