import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { type ReceivedRequest, startStrictServer } from './strict-server.ts'

const key = 'secret-genie-key-0001'

const Alert = z.strictObject({
  message: z.string().min(1).max(130),
  alias: z.string().min(1).max(512),
  description: z.string().max(15_000),
  priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
  entity: z.string().max(512),
  source: z.string().max(100),
  user: z.string().max(100),
  tags: z.array(z.string().min(1).max(50)).max(20),
  details: z.record(z.string(), z.string()).refine((details) => JSON.stringify(details).length <= 8_000),
})
const Close = z.strictObject({ source: z.string().max(100), user: z.string().max(100), note: z.string().max(25_000) })

/** Schemas by method and path. */
const requests: readonly (readonly [string, RegExp, z.ZodType])[] = [
  ['POST', /^\/v2\/alerts$/, Alert],
  ['POST', /^\/v2\/alerts\/[^/?]+\/close\?identifierType=alias$/, Close],
  ['PUT', /^\/v2\/alerts\/[^/?]+\/priority\?identifierType=alias$/, Alert.pick({ priority: true }).strict()],
  ['PUT', /^\/v2\/alerts\/[^/?]+\/message\?identifierType=alias$/, Alert.pick({ message: true }).strict()],
]

const findProblem = ({ method, path, headers, text }: ReceivedRequest): string | undefined => {
  const known = requests.find(([wanted, pattern]) => wanted === method && pattern.test(path))
  if (!known) return 'not found'
  if (headers.authorization !== `GenieKey ${key}`) return 'Key format is not valid'
  if (headers['content-type'] !== 'application/json') return 'not JSON'
  return known[2].safeParse(JSON.parse(text)).error?.message
}

const NotifiedText = z.union([Alert.transform(({ message }) => message), Close.transform(({ note }) => note)])

/** Returns a rig with the API of Opsgenie in one region. */
const createRig = (region: 'us' | 'eu', origin: string): ChannelRig => ({
  id: 'paging-b',
  form: region,
  standsFor: [origin],
  ownAddress: true,
  start: () =>
    startStrictServer({
      answer: { status: 202, body: JSON.stringify({ result: 'Request will be processed', took: 0.1, requestId: 'r' }) },
      problem: findProblem,
    }),
  env: () => ({ HEALTH_ALERT_PAGING_B_API_KEY: key }),
  secrets: () => [key],
  switchVariable: 'HEALTH_ALERT_PAGING_B_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_PAGING_B_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => NotifiedText.parse(JSON.parse(text)),
  dead: { status: 401, body: JSON.stringify({ message: 'Could not authenticate' }) },
})

export const opsgenieRig = createRig('us', 'https://api.opsgenie.com')

/** Rig for the EU region, which has its own test because the default is the US region. */
export const opsgenieEuRig = createRig('eu', 'https://api.eu.opsgenie.com')
