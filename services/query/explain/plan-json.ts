import { z } from 'zod'
import type { ExplainNode } from '#proto/explain.ts'

/** As `EXPLAIN PLAN json = 1` writes a step; all but these keys are details. */
interface Step {
  'Node Type': string
  Description?: string | undefined
  Plans?: Step[] | undefined
  [detail: string]: unknown
}

const Step: z.ZodType<Step> = z.lazy(() =>
  z.looseObject({ 'Node Type': z.string(), Description: z.string().optional(), Plans: z.array(Step).optional() }),
)
const Plans = z.array(z.object({ Plan: Step }))

/** The tree that the JSON form of a plan tells; undefined when the text is something else. */
export const parsePlanJson = (text: string): ExplainNode[] | undefined => {
  try {
    const plans = Plans.safeParse(JSON.parse(text))
    return plans.success ? plans.data.map(({ Plan }) => nodeOf(Plan)) : undefined
  } catch {
    return undefined
  }
}

const nodeOf = ({ 'Node Type': name, Description: description, Plans: plans, ...details }: Step): ExplainNode => ({
  name,
  description: description || null,
  details,
  children: (plans ?? []).map(nodeOf),
})
