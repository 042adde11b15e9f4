import { describe, expect, it } from 'vitest'
import { PlanStep } from '#proto/agent-parts.ts'
import { openPlan } from './plan.ts'

/** Returns steps from their states: `.` is pending, `>` in progress, `x` completed. */
const steps = (states: string, names = 'abcdef'): PlanStep[] =>
  [...states].map((state, index) =>
    PlanStep.parse({ title: names[index], status: { '.': 'pending', '>': 'in_progress', x: 'completed' }[state] }),
  )

/** Applies the states in order, each with its number of results, and returns the error of the last one. */
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
      'moves on once something was seen',
      [
        ['>..', 0],
        ['x>.', 1],
      ],
    ],
    [
      'may be done with its last step without another look',
      [
        ['>.', 0],
        ['x>', 1],
        ['xx', 1],
      ],
    ],
    [
      'may gain steps',
      [
        ['>.', 0],
        ['x>.', 1],
      ],
    ],
    [
      'may be taken again as it is',
      [
        ['>.', 0],
        ['>.', 3],
      ],
    ],
    [
      'may leave a step and come back to it',
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
    ['has no two steps in progress', [['>>', 0]], 'exactly one step'],
    [
      'completes nothing that was not looked at',
      [
        ['>.', 2],
        ['x>', 2],
      ],
      'verify it with a tool',
    ],
    [
      'completes nothing that never began',
      [
        ['>..', 0],
        ['>x.', 1],
      ],
      'was never in_progress',
    ],
    [
      'keeps what is completed',
      [
        ['>.', 0],
        ['x>', 1],
        ['>.', 2],
      ],
      'cannot be changed',
    ],
    [
      'keeps the name of what is completed',
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

  it('is finished when only the answer is left', () => {
    const plan = openPlan()
    expect(plan.unfinished()).toEqual([])
    plan.update(steps('>.'), 0)
    plan.update(steps('x>'), 1)
    expect(plan.unfinished()).toEqual([])
    plan.answered()
    expect(plan.steps()).toEqual(steps('xx'))
  })
})
