import { z } from 'zod'
import { PlanStep } from '#proto/agent-parts.ts'
import { ServiceError } from '#proto/errors.ts'

/** The name of the tool that keeps a plan. */
export const updatePlan = 'update_plan'

/** What `update_plan` is told: the whole checklist. */
export const PlanInput = z.strictObject({
  steps: z.array(PlanStep.strict()).min(1).max(20),
})

/** The checklist of one answer. */
export interface Plan {
  /** Takes the next state of the checklist; throws `invalid` when it breaks a rule, and then nothing changes. */
  update(steps: readonly PlanStep[], results: number): void
  steps(): readonly PlanStep[]
  /** Titles of steps that are not done; the last one is done by answering, when all others are. */
  unfinished(): string[]
  /** Marks the last step as done, when it is the only one left. */
  answered(): void
}

/**
 * Keeps a plan honest: one step is in progress at any time, a step is done only when a tool has told something since it began, and
 * what is done stays done. `results` counts the results of tools so far.
 */
export const openPlan = (): Plan => {
  let current: readonly PlanStep[] = []
  let begun = new Map<number, number>()

  return {
    update(steps, results) {
      requireWorth(steps)
      requireOneInProgress(steps)
      for (const [index, step] of steps.entries())
        requireHonest(step, current[index], { isLast: index === steps.length - 1, begun: begun.get(index), results })
      requireKept(current, steps)
      begun = new Map(
        steps.flatMap(({ status }, index) => (status === 'in_progress' ? [[index, begun.get(index) ?? results]] : [])),
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

const invalid = (sentence: string): ServiceError => new ServiceError('invalid', sentence)

const requireWorth = (steps: readonly PlanStep[]): void => {
  if (steps.length < 2) throw invalid('a question of one step needs no plan: answer it at once')
}

const requireOneInProgress = (steps: readonly PlanStep[]): void => {
  const running = steps.filter(({ status }) => status === 'in_progress').length
  const isOver = steps.every(({ status }) => status === 'completed')
  if (running !== 1 && !isOver) throw invalid(`exactly one step is in_progress at any time; here ${running} are`)
}

interface Standing {
  isLast: boolean
  /** How many results there were when it began; undefined when it never did. */
  begun: number | undefined
  results: number
}

/** A step is done when something was learned since it began; the last one may be the answer itself. */
const requireHonest = (step: PlanStep, before: PlanStep | undefined, { isLast, begun, results }: Standing): void => {
  if (step.status !== 'completed' || before?.status === 'completed') return
  if (begun === undefined) throw invalid(`“${step.title}” was never in_progress, so it cannot be completed`)
  if (!isLast && results <= begun) {
    throw invalid(`nothing was looked at since “${step.title}” began: verify it with a tool before you complete it`)
  }
}

const requireKept = (before: readonly PlanStep[], after: readonly PlanStep[]): void => {
  for (const [index, { title, status }] of before.entries()) {
    const now = after[index]
    if (status === 'completed' && (now?.status !== 'completed' || now.title !== title)) {
      throw invalid(`“${title}” is completed and stays so, at its place`)
    }
  }
}
