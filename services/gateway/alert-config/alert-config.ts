import type { AlertPolicy, Settled, Settling } from '#proto/alerting.ts'
import type { Call } from '#proto/call.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { encryptFor } from '#shared/seal/transit.ts'
import type { Gateway } from '../gateway.ts'

/** A request that settles something. */
interface Asked {
  call: Call
  requestId: string
}

type Standing = 'new' | 'known' | null

/** Settles one thing, once that is on record; gives all that is settled then. */
export const settle = (
  gateway: Gateway,
  { call, requestId }: Asked,
  settling: Settling,
  mustBe: Standing = null,
): Promise<AlertPolicy> => {
  const deed = { action: `settle-${settling.kind}`, host: null, target: { ...idOf(settling), ...namesOf(settling) } }
  return gateway.audit.of(deed, { call, requestId }, async () =>
    gateway.alerts.settle({ ...(await withoutSecrets(gateway, settling, call)), mustBe }, call),
  )
}

/** Fields of whose values each may be a secret. */
const secretFields: Readonly<Partial<Record<Settling['kind'], readonly string[]>>> = {
  channel: ['settings'],
  'webhook-target': ['url', 'headers'],
}

const withoutSecrets = async (gateway: Gateway, settling: Settling, call: Call) => {
  const names = new Set(secretFields[settling.kind])
  const given = Object.entries(settling.value).filter(([, each]) => each !== undefined)
  const secrets = given.filter(([name]) => names.has(name))
  if (secrets.length === 0) return { settling }
  const encrypted = await encryptForAlerts(gateway, Object.fromEntries(secrets), call)
  const value = Object.fromEntries(given.filter(([name]) => !names.has(name)))
  // Of all kinds only those above get here, and what is taken from them may be absent.
  return { settling: { ...settling, value } as Settling, encrypted }
}

/** Takes back what was settled here, once that is on record; gives all that is settled then. */
export const unsettle = (
  { alerts, audit }: Gateway,
  { call, requestId }: Asked,
  settled: Settled,
): Promise<AlertPolicy> => {
  const deed = { action: `unsettle-${settled.kind}`, host: null, target: idOf(settled) }
  return audit.of(deed, { call, requestId }, () => alerts.unsettle({ settled }, call))
}

const idOf = (named: Settling | Settled): Record<string, string> => ('id' in named ? { id: named.id } : {})

const longestText = 200

/** What it was settled to, as the audit keeps it. */
const namesOf = ({ value }: Settling): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && each !== null)
      .map(([name, each]) => [name, secrets.has(name) ? 'given' : beginningOf(textOf(each), longestText)]),
  )

/** Of these it is known only that they were given. */
const secrets: ReadonlySet<string> = new Set(['url'])

/** Of what has fields of its own their names: there may be secrets among them. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).join(', ') : String(value)

/** Secrets as they may travel: whoever reads the bus learns none of them, since only `alert-dispatcher` opens them. */
export const encryptForAlerts = async (
  { alerts }: Pick<Gateway, 'alerts'>,
  secrets: object,
  call: Call,
): Promise<string> => encryptFor(await alerts.alertSecretsKey({}, call), secrets)
