import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { systemClock } from '#shared/time/clock.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { createCallTool } from './call-tool.ts'
import { findHost, defineReadTool, createToolResult as success } from '#shared/tools/tool.ts'
import { createToolContext } from './testing/context.ts'

const context = createToolContext(() => [])
const { call } = context

const toolThat = (run: () => Promise<never>) =>
  defineReadTool({
    name: 'count_sheep',
    title: 'Count sheep',
    description: 'Counts.',
    feature: 'TABLES',
    input: z.strictObject({ sheep: z.int().default(0) }),
    output: z.strictObject({}),
    run,
  })

it.each([
  ['an internal error', {}, new TypeError('x is undefined'), 'internal', 'failed', 'internal error'],
  ['a busy host', {}, new ServiceError('busy', 'host one has no time'), 'busy', 'refused', 'busy: host one'],
  [
    'invalid arguments',
    { sheep: 'many' },
    undefined,
    'invalid',
    'refused',
    'invalid arguments: sheep must be a number',
  ],
])('counts and audits %s', async (_what, given, thrown, outcome, result, sentence) => {
  const metrics = new Registry()
  const audited: string[] = []
  const callTool = createCallTool({
    clock: systemClock,
    audit: ({ result: written }) => audited.push(written),
    contextFor: () => context,
    telemetry: { log: pino({ level: 'silent' }), metrics, tracer: noopTracers.tracer('mcp') },
  })
  const output = await callTool(
    toolThat(() => Promise.reject(thrown)),
    given,
    call,
  )
  expect(output).toMatchObject({ isError: true, structured: null, text: expect.stringContaining(sentence) })
  expect(audited).toEqual([result])
  const [counter] = await metrics.getMetricsAsJSON()
  expect(counter?.values).toMatchObject([{ value: 1, labels: { tool: 'count_sheep', outcome } }])
})

it.each([
  ['of the operator', undefined, 'one'],
  ['of its caller', 'user:0123456789abcdef', 'your connection (user-supplied)'],
])('names a host %s in the audit', async (_what, hostKey, name) => {
  const hosts: (string | null)[] = []
  const callTool = createCallTool({
    clock: systemClock,
    audit: ({ host }) => hosts.push(host),
    contextFor: () => context,
    telemetry: { log: pino({ level: 'silent' }), metrics: new Registry(), tracer: noopTracers.tracer('mcp') },
  })
  const onHost = defineReadTool({
    name: 'count_sheep',
    title: 'Count sheep',
    description: 'Counts.',
    feature: 'TABLES',
    input: z.strictObject({}),
    output: z.strictObject({}),
    run: async (_given, there) => success((await findHost(there, undefined)).name, {}),
  })
  expect(await callTool(onHost, {}, call, { agent: { hostKey } })).toMatchObject({ isError: false })
  expect(hosts).toEqual([name])
})
