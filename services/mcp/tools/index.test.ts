import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tools } from './index.ts'

const acceptance = new URL('../../acceptance/', import.meta.url)
const files = readdirSync(import.meta.dirname).filter(
  (file) => !file.startsWith('index.') && !file.endsWith('.test.ts'),
)
const documented = `query list_databases list_tables get_table_schema get_metrics get_running_queries get_slow_queries
  get_merge_status explore_table_schema analyze_performance get_optimization_recommendations`.split(/\s+/)

/** JSON schema of a parameter as models receive it. */
const Parameter = z.looseObject({
  type: z.string(),
  enum: z.array(z.string()).optional(),
  description: z.string().min(5),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
})
const Schema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), Parameter),
  additionalProperties: z.literal(false),
})

describe('the tools', () => {
  it('are the documented ones, each in a file of its name', () => {
    const names = tools.map(({ name }) => name)
    expect(names.slice(0, documented.length)).toEqual(documented)
    expect(files.toSorted()).toEqual(names.map((name) => `${name.replaceAll('_', '-')}.ts`).toSorted())
  })

  it('are each compared with the state of the host', () => {
    const tests = ['tools.test.ts', 'advice.test.ts'].map((file) => readFileSync(new URL(file, acceptance), 'utf8'))
    const untested = documented.filter(
      (name) => !tests.some((text) => text.includes(`it('${name}`) || text.includes(`const name = '${name}'`)),
    )
    expect(untested).toEqual([])
  })
})

describe.each(tools.map((tool) => ({ tool, name: tool.name })))('$name', ({ tool }) => {
  it('has a short description', () => {
    expect(tool.title.length).toBeLessThanOrEqual(40)
    expect(tool.description.length).toBeGreaterThanOrEqual(30)
    expect(tool.description.length).toBeLessThanOrEqual(170)
    expect(tool.description).toMatch(/\.$/)
  })

  it('has a bounded type for each parameter', () => {
    const { properties } = Schema.parse(z.toJSONSchema(tool.input, { io: 'input' }))
    expect(Object.keys(properties)).toContain('hostId')
    for (const { type, minimum, maximum, maxLength, enum: values } of Object.values(properties)) {
      if (type === 'integer') expect([minimum, maximum]).toEqual([expect.any(Number), expect.any(Number)])
      else if (type === 'boolean' || values) expect(maxLength).toBeUndefined()
      else expect([type, maxLength]).toEqual(['string', expect.any(Number)])
    }
  })

  it('accepts its example', () => {
    expect(tool.input.safeParse(tool.example ?? {}).error).toBeUndefined()
  })

  it('rejects unknown arguments', async () => {
    expect(tool.input.safeParse({ hostid: 1 }).error?.issues.some(({ code }) => code === 'unrecognized_keys')).toBe(
      true,
    )
  })

  it('returns an object with a complete schema', () => {
    expect(tool.output && z.toJSONSchema(tool.output)).toMatchObject({ type: 'object', additionalProperties: false })
  })
})
