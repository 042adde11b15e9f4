import { beginningOf } from '#shared/text/cut.ts'
import { hidden, soundsSecret, withoutCredentials } from '#shared/telemetry/redact.ts'

/** `password=…`, `"secret_access_key": "…"`, `sslpassword='…'`: what follows a name that says it is secret, whatever it is called in full. */
const assigned =
  /(?<name>\b[\w.-]{0,64}(?:password|passwd|pwd|passphrase|secret|token(?!iz)|credential|access_?key|api_?key|private_?key|sig(?:nature)?)[\w.-]{0,64}\\*["']?\s{0,8}(?:=>?|:)\s{0,8})(?:\\+".*?(?:\\+"|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&)\]}]+)/gi
const identified =
  /(?<name>\b(?:identified\s+(?:with\s+\w+\s+)?by|authorization:?\s*(?:basic|bearer))\s+)(?:'[^']*'?|\S+)/gi
const keyBlock = /-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|$)/gs
/** Ids of access keys, and tokens that say by their form what they are. */
const known = /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g

/** Longer lines are cut: they are read by people, and by expressions whose work grows with them. */
const longestText = 8_192

/** A text without what looks like a secret in it: lines of logs repeat connection strings. */
export const hideSecrets = (text: string): string =>
  withoutCredentials(beginningOf(text, longestText))
    .replaceAll(keyBlock, hidden)
    .replaceAll(identified, `$<name>${hidden}`)
    .replaceAll(assigned, `$<name>${hidden}`)
    .replaceAll(known, hidden)

/** What an answer is read with: 64-bit numbers, which are sent as text, become numbers, numbers that are none become null, and secrets are hidden. */
export const revive = (key: string, value: unknown): unknown => {
  if (typeof value === 'string') return reviveText(key, value)
  if (isNamedValue(value) && soundsSecret(value.name)) {
    return { ...value, value: value.value === null ? null : hidden, defaultValue: hidden }
  }
  return value
}

const reviveText = (key: string, text: string): unknown => {
  if (wholeFields.has(key) && /^-?\d{1,19}$/.test(text)) return Number(text)
  if (figureFields.has(key) && /^-?(?:NaN|Infinity)$/.test(text)) return null
  return soundsSecret(key) && text !== '' ? hidden : hideSecrets(text)
}

/** A setting, which has its name beside it and not as a key. */
const isNamedValue = (value: unknown): value is { name: string; value: unknown } =>
  typeof value === 'object' && value !== null && 'value' in value && 'name' in value && typeof value.name === 'string'

const wholeFields: ReadonlySet<string> = new Set([
  'id',
  'pid',
  'batchId',
  'numRows',
  'numRowsSynced',
  'avgTimePerPartitionMs',
  'rowsInPartition',
  'rowsSynced',
  'totalRows',
  'totalCount',
  'totalCountCDC',
  'totalCountInitialLoad',
  'insertsCount',
  'updatesCount',
  'deletesCount',
  'idleTimeoutSeconds',
])
const figureFields: ReadonlySet<string> = new Set(['lagInMb'])
