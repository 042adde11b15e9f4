import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { controlTools } from '../approvals/control-tools.ts'
import { countResponses } from '../testing/model-script.ts'
import { anonymousIdentity, filterChunksByType, startAgent } from '../testing/start-agent.ts'
import { agentTools, postgresTools, repldbTools } from './index.ts'
import { createLoadSkillTool } from './load-skill.ts'

const tests = [
  '../../acceptance/agent-tools.test.ts',
  '../../testing/replication-tool-cases.ts',
  '../../acceptance/agent.test.ts',
  '../loop/answer.test.ts',
  'load-skill.test.ts',
].map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'))
const files = readdirSync(import.meta.dirname).filter((file) => file !== 'index.ts' && !file.endsWith('.test.ts'))
const skills = { list: () => [{ name: 'replication-guide' }], load: () => ({ body: '' }) }
const own = [createLoadSkillTool(skills), ...agentTools]
const offered = [...own, ...postgresTools, ...repldbTools]
const all = [...offered, ...controlTools]
const documented = `load_skill find_reference_query get_disk_usage get_replication_status ask_user query_and_visualize
  get_failed_queries list_slow_query_patterns explain_query estimate_query_cost get_table_parts estimate_mutation_impact
  compare_hosts get_page_data forecast_disk_capacity explain_anomaly_score get_schema_advice get_tuning_suggestions
  get_postgres_activity list_postgres_statement_patterns get_postgres_table_stats get_postgres_replication get_postgres_locks
  get_repldb_mirror_status get_repldb_metrics`.split(/\s+/)

/** The schema of a parameter for the model. */
const Parameter = z.looseObject({
  type: z.string(),
  description: z.string().min(5),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  enum: z.array(z.string()).optional(),
})
const Schema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), Parameter),
  additionalProperties: z.literal(false),
})

describe('the tools of the agent', () => {
  it('are the documented ones, each in a file of its name', () => {
    const names = offered.map(({ name }) => name)
    expect(names.filter((name) => documented.includes(name))).toEqual(documented)
    expect(files.toSorted()).toEqual(names.map((name) => `${name.replaceAll('_', '-')}.ts`).toSorted())
  })

  it('are each tested by name', () => {
    // `agent-tools.test.ts` calls tools with an example. The documented tools and those without one need other tests.
    const untested = all.filter(
      ({ name, example }) =>
        (example === undefined || documented.includes(name)) && !tests.some((text) => text.includes(`'${name}`)),
    )
    expect(untested.map(({ name }) => name)).toEqual([])
  })

  it('are forbidden for callers without their feature', async () => {
    const calls = offered.filter(({ kind, input }) => kind === 'read' && input.safeParse({}).success)
    await using agent = await startAgent({
      env: { SVC_FEATURE_REPLDB_AGENT: 'true' },
      script: (request) =>
        countResponses(request) === 0
          ? { say: calls.map(({ name }) => ({ call: name })) }
          : { say: [{ text: 'Nothing is open.' }] },
    })
    const { chunks } = await agent.run('Well?', { ...anonymousIdentity, features: ['AGENT'] })
    const refused = filterChunksByType(chunks, 'tool-output-error').map((chunk) =>
      'errorText' in chunk ? chunk.errorText : '',
    )
    expect(refused.toSorted()).toEqual(
      calls.map(({ name }) => `forbidden: you do not have access to the tool ${name}`).toSorted(),
    )
    expect(refused.length).toBeGreaterThan(5)
  })

  it.each(['false', ''])('do not read from a replication service if SVC_FEATURE_REPLDB_AGENT is %j', async (flag) => {
    await using agent = await startAgent({
      env: { SVC_FEATURE_REPLDB_AGENT: flag },
      script: (request) =>
        countResponses(request) === 0 ? { say: [{ call: 'get_repldb_mirror_status' }] } : { say: [{ text: 'No.' }] },
    })
    const { chunks } = await agent.run('Well?')
    expect(filterChunksByType(chunks, 'tool-output-available')).toEqual([])
    expect(JSON.stringify(chunks)).toContain('unknown tool')
  })

  it('have unique names', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  })
})

describe.each(all.map((tool) => ({ tool, name: tool.name })))('$name', ({ tool }) => {
  it('has a short description', () => {
    expect(tool.name).toMatch(/^[a-z]+(_[a-z]+)+$/)
    expect(tool.title.length).toBeLessThanOrEqual(40)
    expect(tool.description.length).toBeGreaterThanOrEqual(30)
    expect(tool.description.length).toBeLessThanOrEqual(180)
    expect(tool.description).toMatch(/\.$/)
  })

  it('describes each parameter with its bounds', () => {
    const schema = Schema.safeParse(z.toJSONSchema(tool.input, { io: 'input' }))
    expect(schema.error).toBeUndefined()
    for (const parameter of Object.values(schema.data?.properties ?? {})) {
      const { type, minimum, maximum, maxLength, maxItems, enum: values } = parameter
      if (type === 'integer') expect([minimum, maximum]).toEqual([expect.any(Number), expect.any(Number)])
      else if (type === 'array') expect(maxItems).toEqual(expect.any(Number))
      else if (type === 'string') expect(values ?? maxLength).toBeDefined()
      else expect(type).toBe('boolean')
    }
  })

  it('accepts its example, if any', () => {
    expect(tool.example && tool.input.safeParse(tool.example).error).toBeUndefined()
  })

  it('rejects unknown arguments', () => {
    const { error } = tool.input.safeParse({ hostid: 1 })
    expect(error?.issues.some(({ code }) => code === 'unrecognized_keys')).toBe(true)
  })
})
