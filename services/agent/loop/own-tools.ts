import { z } from 'zod'
import { readTool, type Tool, type ToolResult } from '#shared/tools/tool.ts'
import { bestFor } from '../best-for.ts'
import type { Tell } from './talk.ts'
import { type Plan, PlanInput, updatePlan } from './plan.ts'
import type { Toolbox } from './toolbox.ts'
import type { Tries } from './answer-limits.ts'

const own = { feature: null, core: true } as const
/** The product itself says this, so nothing stands behind it. */
const withoutEvidence = (text: string, structured: Record<string, unknown> | null = null): ToolResult => ({
  isError: false,
  text,
  structured,
  evidence: [],
})

/** Keeps the checklist of an answer, as far as it keeps the rules of one. */
export const planTool = (plan: Plan, tries: Tries, tell: Tell): Tool =>
  readTool({
    ...own,
    name: updatePlan,
    title: 'Update the plan',
    description:
      'The whole checklist of a task of several steps, each time anew. Exactly one step is in_progress; a step is completed once a tool has shown its result. No plan for one-step questions.',
    input: PlanInput,
    run: async ({ steps }) => {
      plan.update(steps, tries.told)
      tell({ type: 'data-plan', id: 'plan', data: { steps: plan.steps() } })
      return withoutEvidence('noted')
    },
  })

export const searchToolsName = 'search_tools'
/** Tools that one search finds. */
const mostFound = 8
const SearchInput = z.strictObject({ topic: z.string().min(1).max(200).describe('What the tool is to tell or do') })

/** Finds the tools that are not told of at once; the model may use those that are found. */
export const searchTools = (toolbox: () => Toolbox): Tool =>
  readTool({
    ...own,
    name: searchToolsName,
    title: 'Find tools',
    description:
      'Finds further tools by topic: running and slow queries, explain, cost, merges, mutations, advice on queries, tables and settings, comparison of hosts, pages, forecasts, changes, PostgreSQL where it is watched.',
    input: SearchInput,
    run: async ({ topic }) => {
      const { all, tell } = toolbox()
      const others = all.filter(({ core }) => !core)
      const found = bestFor(topic, others, wordsOfTool).slice(0, mostFound)
      tell(found.map(({ name }) => name))
      const tools = found.map(({ name, description }) => ({ name, description }))
      return withoutEvidence(tools.length === 0 ? 'no further tools' : 'you may call these now', { tools })
    },
  })

const wordsOfTool = ({ name, title, description }: Tool): string => `${name} ${title} ${description}`
