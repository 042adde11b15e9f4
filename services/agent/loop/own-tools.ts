import { z } from 'zod'
import { defineReadTool, type Tool, type ToolResult } from '#shared/tools/tool.ts'
import { rankByTopic } from '../rank-by-topic.ts'
import type { ChunkEmitter } from './answer-context.ts'
import { type Plan, PlanInput, planToolName } from './plan.ts'
import type { Toolbox } from './toolbox.ts'
import type { ToolCallLimiter } from './answer-limits.ts'

const ownToolTraits = { feature: null, core: true } as const
/** Returns the result of a tool of the agent itself, without evidence. */
const createResultWithoutEvidence = (text: string, structured: Record<string, unknown> | null = null): ToolResult => ({
  isError: false,
  text,
  structured,
  evidence: [],
})

/** Returns the tool that updates the plan of an answer. */
export const createPlanTool = (plan: Plan, tries: ToolCallLimiter, emit: ChunkEmitter): Tool =>
  defineReadTool({
    ...ownToolTraits,
    name: planToolName,
    title: 'Update the plan',
    description:
      'Replaces the checklist of a task with several steps. Exactly one step is in_progress. Complete a step only after a tool has returned its result. Do not plan one-step questions.',
    input: PlanInput,
    run: async ({ steps }) => {
      plan.update(steps, tries.successes)
      emit({ type: 'data-plan', id: 'plan', data: { steps: plan.steps() } })
      return createResultWithoutEvidence('noted')
    },
  })

export const searchToolsName = 'search_tools'
const maxFoundTools = 8
const SearchInput = z.strictObject({ topic: z.string().min(1).max(200).describe('What the tool should return or do') })

/** Returns the tool that searches for tools that are not offered yet. The model can call the found ones afterwards. */
export const createSearchToolsTool = (toolbox: () => Toolbox): Tool =>
  defineReadTool({
    ...ownToolTraits,
    name: searchToolsName,
    title: 'Find tools',
    description:
      'Finds further tools by topic: running and slow queries, EXPLAIN, query cost, merges, mutations, advice on queries, tables and settings, host comparison, chart and table pages, forecasts, changes to hosts, PostgreSQL if configured.',
    input: SearchInput,
    run: async ({ topic }) => {
      const { all, offer } = toolbox()
      const others = all.filter(({ core }) => !core)
      const found = rankByTopic(topic, others, joinToolTexts).slice(0, maxFoundTools)
      offer(found.map(({ name }) => name))
      const tools = found.map(({ name, description }) => ({ name, description }))
      return createResultWithoutEvidence(tools.length === 0 ? 'no further tools' : 'you may call these now', { tools })
    },
  })

const joinToolTexts = ({ name, title, description }: Tool): string => `${name} ${title} ${description}`
