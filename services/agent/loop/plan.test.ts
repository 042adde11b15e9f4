import { describe, expect, it } from 'vitest'
import { PlanStep } from '#proto/agent-parts.ts'
import { openPlan } from './plan.ts'

/** Returns steps from their states: `.` is pending, `>` in progress, `x` completed. */
const steps = (states: string, names = 'abcdef'): PlanStep[] =>
  [...states].map((state, index) =>
    PlanStep.parse({ title: names[index], status: { '.': 'pending', '>': 'in_progress', x: 'completed' }[state] }),
  )

/** Applies the updates in order. Returns the error of the last one, or `taken` if it is accepted. */
const taking = (...turns: readonly (readonly [string, number, string?])[]): string => {
  const plan = openPlan()
  for (const [states, results, names] of turns.slice(0, -1)) plan.update(steps(states, names), results)
  const [states = '', results = 0, names] = turns.at(-1) ?? []
  try {
    plan.update(steps(states, names), results)
    return 'taken'
  } catch (error) {
    return String(error)
  }
}

describe('a plan', () => {
  it.each([
    ['starts with one step in progress', [['>..', 0]]],
    [
      'advances after a tool result',
      [
        ['>..', 0],
        ['x>.', 1],
      ],
    ],
    [
      'may complete its last step without a tool result',
      [
        ['>.', 0],
        ['x>', 1],
        ['xx', 1],
      ],
    ],
    [
      'may get additional steps',
      [
        ['>.', 0],
        ['x>.', 1],
      ],
    ],
    [
      'may be submitted again unchanged',
      [
        ['>.', 0],
        ['>.', 3],
      ],
    ],
    [
      'may suspend a step and resume it later',
      [
        ['>.', 0],
        ['.>', 0],
        ['>.', 1],
        ['x>', 2],
      ],
    ],
  ] as const)('%s', (_what, turns) => {
    expect(taking(...turns)).toBe('taken')
  })

  it.each([
    ['has more than one step', [['>', 0]], 'needs no plan'],
    ['has a step in progress', [['..', 0]], 'exactly one step'],
    ['cannot have two steps in progress', [['>>', 0]], 'exactly one step'],
    [
      'cannot complete a step without a tool result',
      [
        ['>.', 2],
        ['x>', 2],
      ],
      'verify it with a tool',
    ],
    [
      'cannot complete a step that was never in progress',
      [
        ['>..', 0],
        ['>x.', 1],
      ],
      'was never in_progress',
    ],
    [
      'cannot reopen a completed step',
      [
        ['>.', 0],
        ['x>', 1],
        ['>.', 2],
      ],
      'cannot be changed',
    ],
    [
      'cannot rename a completed step',
      [
        ['>.', 0],
        ['x>', 1],
        ['x>', 1, 'zb'],
      ],
      'cannot be changed',
    ],
  ] as const)('%s', (_what, turns, sentence) => {
    expect(taking(...turns)).toContain(sentence)
  })

  it('does not change after a rejected update', () => {
    const plan = openPlan()
    plan.update(steps('>.'), 0)
    expect(() => plan.update(steps('x>'), 0)).toThrow('verify')
    expect(plan.steps()).toEqual(steps('>.'))
    expect(plan.unfinished()).toEqual(['a', 'b'])
  })

  it('has no unfinished steps when only the answer is left', () => {
    const plan = openPlan()
    expect(plan.unfinished()).toEqual([])
    plan.update(steps('>.'), 0)
    plan.update(steps('x>'), 1)
    expect(plan.unfinished()).toEqual([])
    plan.answered()
    expect(plan.steps()).toEqual(steps('xx'))
  })
})
