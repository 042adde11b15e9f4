import { z } from 'zod'
import { PlanStep } from '#proto/agent-parts.ts'
import { ServiceError } from '#proto/errors.ts'

/** The name of the tool that updates the plan. */
export const planToolName = 'update_plan'

/** The input of `update_plan`: the whole checklist. */
export const PlanInput = z.strictObject({
  steps: z.array(PlanStep.strict()).min(1).max(20),
})

/** The checklist of one answer. */
export interface Plan {
  /** Replaces the checklist. `results` is the number of tool results so far. Throws `invalid` if it breaks a rule. */
  update(steps: readonly PlanStep[], results: number): void
  steps(): readonly PlanStep[]
  /** Returns the titles of unfinished steps; empty if only the last one is left, which the answer completes. */
  unfinished(): string[]
  /** Marks all steps as completed. */
  answered(): void
}

/**
 * Opens an empty plan. An update must have exactly one step in progress, unless all are completed, and must not change
 * completed steps. A step before the last can be completed only if a tool has returned a result since it started.
 */
export const openPlan = (): Plan => {
  let current: readonly PlanStep[] = []
  let startedAt = new Map<number, number>()

  return {
    update(steps, results) {
      requireSeveralSteps(steps)
      requireOneInProgress(steps)
      for (const [index, step] of steps.entries())
        requireVerified(step, current[index], {
          isLast: index === steps.length - 1,
          startedAt: startedAt.get(index),
          results,
        })
      requireCompletedUnchanged(current, steps)
      startedAt = new Map(
        steps.flatMap(({ status }, index) =>
          status === 'in_progress' ? [[index, startedAt.get(index) ?? results]] : [],
        ),
      )
      current = steps
    },
    steps: () => current,
    unfinished: () => {
      const open = current.flatMap((step, index) => (step.status === 'completed' ? [] : [{ title: step.title, index }]))
      return open.length === 1 && open[0]?.index === current.length - 1 ? [] : open.map(({ title }) => title)
    },
    answered: () => {
      current = current.map((step) => ({ ...step, status: 'completed' }))
    },
  }
}

const createInvalidError = (message: string): ServiceError => new ServiceError('invalid', message)

const requireSeveralSteps = (steps: readonly PlanStep[]): void => {
  if (steps.length < 2) throw createInvalidError('a one-step question needs no plan; answer it directly')
}

const requireOneInProgress = (steps: readonly PlanStep[]): void => {
  const running = steps.filter(({ status }) => status === 'in_progress').length
  const isOver = steps.every(({ status }) => status === 'completed')
  if (running !== 1 && !isOver) throw createInvalidError(`exactly one step must be in_progress; found ${running}`)
}

interface StepProgress {
  isLast: boolean
  /** The number of tool results when the step started; undefined if it has not started. */
  startedAt: number | undefined
  results: number
}

/** Throws if a completed step never started, or if it is not the last and no tool has returned a result since. */
const requireVerified = (
  step: PlanStep,
  before: PlanStep | undefined,
  { isLast, startedAt, results }: StepProgress,
): void => {
  if (step.status !== 'completed' || before?.status === 'completed') return
  if (startedAt === undefined) throw createInvalidError(`“${step.title}” cannot be completed: it was never in_progress`)
  if (!isLast && results <= startedAt) {
    throw createInvalidError(
      `“${step.title}” cannot be completed: no tool result since it started; verify it with a tool`,
    )
  }
}

const requireCompletedUnchanged = (before: readonly PlanStep[], after: readonly PlanStep[]): void => {
  for (const [index, { title, status }] of before.entries()) {
    const now = after[index]
    if (status === 'completed' && (now?.status !== 'completed' || now.title !== title)) {
      throw createInvalidError(`“${title}” is completed: it cannot be changed, moved or removed`)
    }
  }
}
