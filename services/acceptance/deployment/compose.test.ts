import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type ServiceName, serviceNames } from '#proto/call.ts'
import { createProcessKeys } from '#shared/bus/testing/keys.ts'
import { findStartProblems } from '#shared/lifecycle/start-problems.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { root } from '../../testing/source-file.ts'
import { importServiceConfig, readServiceVariables } from '../../generate/chart/services.ts'
import { runChartTool } from '../../testing/chart/helm.ts'

const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      command: z.array(z.string()).nullish(),
      environment: z.record(z.string(), z.string()).default({}),
      volumes: z.array(z.object({ source: z.string() })).default([]),
      depends_on: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
})

const keyNames = ['NATS_SIGNING_KEY', 'NATS_VERIFICATION_KEY', 'NATS_CALL_KEYS']

/** Variables that the chart sets itself, and that the Compose file must list. */
const alsoRead = ['NATS_URL', 'NATS_STREAMS_URL', ...keyNames, 'REDIS_URL', 'CRON_SECRET', 'SVC_QUERY_ROLE']

describeWith(['compose-spec'], 'the Compose file', () => {
  const load = async () => {
    const { code, output } = await runChartTool('compose-spec', [
      '-format',
      'json',
      '-no-path-resolution',
      'k8s/dev/compose.yaml',
    ])
    expect(code, output).toBe(0)
    return Compose.parse(JSON.parse(output)).services
  }
  const ofProduct = async () =>
    Object.entries(await load()).filter(
      ([, { command }]) => command?.length === 1 && serviceNames.some((name) => name === command[0]),
    )

  it('defines the seven services, a guest query service, their servers, a scheduler and monitoring', async () => {
    const started = (await ofProduct()).map(([name, { command }]) => [name, command?.[0]])
    expect(Object.fromEntries(started)).toMatchObject({
      ...Object.fromEntries(serviceNames.map((name) => [name, name])),
      'query-guest': 'query',
    })
    const around = 'nats redis postgresql clickhouse-a clickhouse-b clickhouse-keeper prometheus grafana scheduler'
    expect(Object.keys(await load())).toEqual(expect.arrayContaining(around.split(' ')))
  })

  it('passes each service only variables that it reads, and the model key only to agent', async () => {
    const read = await readServiceVariables()
    for (const [name, { command, environment }] of await ofProduct()) {
      const service = serviceNames.find((known): known is ServiceName => known === command?.[0])
      const { open = [], secret = [] } = (service && read.get(service)) ?? {}
      // Compose passes the address of the state store to every service, even if the service stores nothing.
      const known = new Set([
        ...open,
        ...secret,
        ...alsoRead,
        'SVC_STATE_DB_URL',
        'SVC_USER_CONNECTIONS_ENCRYPTION_KEY',
      ])
      expect([name, Object.keys(environment).filter((variable) => !known.has(variable))]).toEqual([name, []])
    }
    const all = await ofProduct()
    expect(all.filter(([, { environment }]) => environment.LLM_API_KEY).map(([name]) => name)).toEqual(['agent'])
  })

  it('passes the signing key to gateway, and each other service only its derived keys', async () => {
    const all = await ofProduct()
    const { NATS_SIGNING_KEY: secret = '' } = all.find(([name]) => name === 'gateway')?.[1].environment ?? {}
    for (const [name, { environment }] of all) {
      const given = Object.entries(environment).filter(([variable]) => keyNames.includes(variable))
      expect(Object.fromEntries(given), name).toEqual(createProcessKeys([name], secret))
    }
  })

  it('passes only valid values', async () => {
    for (const [name, { command, environment }] of await ofProduct()) {
      const chosen = serviceNames.filter((known) => known === command?.[0])
      const elsewhere = serviceNames.filter((known) => known !== command?.[0])
      const problems = findStartProblems(
        { configs: await Promise.all(chosen.map(importServiceConfig)), chosen, elsewhere },
        environment,
      )
      expect([name, problems]).toEqual([name, []])
    }
  })

  it('mounts only existing files', async () => {
    const sources = Object.values(await load()).flatMap(({ volumes }) => volumes.map(({ source }) => source))
    expect(sources.length).toBeGreaterThan(8)
    expect(sources.filter((source) => !existsSync(join(root, 'k8s/dev', source)))).toEqual([])
  })
})
