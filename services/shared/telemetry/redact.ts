/** What stands in a log line instead of a secret. */
export const hidden = '[hidden]'

/** Last words of names that hold secrets: `sessionCookie`, `set-cookie`, `BOT_TOKEN`. A statement may hold personal data. */
const secretWords = new Set([
  'authorization',
  'cookie',
  'cookies',
  'credential',
  'credentials',
  'passphrase',
  'password',
  'secret',
  'secrets',
  'sql',
  'token',
  'tokens',
])
/** `key` alone is a secret, and so is an `apiKey`; a `hostKey` is a name. */
const secretKinds = new Set(['', 'access', 'api', 'encryption', 'private', 'routing', 'secret', 'signing'])

const maxDepth = 6
const maxItems = 100

/** Hides values by the names they go under, at every depth; `secretNames` are further names, such as those of secret settings. */
export const redactor = (secretNames: readonly string[]) => {
  const known = new Map(secretNames.map((name) => [name, true]))
  const isSecret = (name: string): boolean => {
    const found = known.get(name)
    if (found !== undefined) return found
    const secret = soundsSecret(name)
    if (known.size < maxNames) known.set(name, secret)
    return secret
  }

  const redact = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    if (depth >= maxDepth) return '[deeper]'
    if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => redact(item, depth + 1))
    return redactFields(value, depth)
  }

  const redactFields = (fields: object, depth: number): Record<string, unknown> => {
    const shown: Record<string, unknown> = {}
    // The sentence and the stack of an error are no enumerable fields, yet they are what a reader needs.
    if (fields instanceof Error)
      Object.assign(shown, { type: fields.name, message: fields.message, stack: fields.stack })
    for (const [name, value] of Object.entries(fields)) {
      shown[name] = isSecret(name) && value !== undefined && !isCount(name, value) ? hidden : redact(value, depth + 1)
    }
    if (fields instanceof Error && fields.cause !== undefined) shown.cause = redact(fields.cause, depth + 1)
    return shown
  }

  return (fields: object): Record<string, unknown> => redactFields(fields, 0)
}

/** `inputTokens: 12` counts tokens of a language model; a list of tokens, or a text, is what they are themselves. */
const isCount = (name: string, value: unknown): boolean => typeof value === 'number' && /tokens$/i.test(name)

/** Names whose verdict is remembered; log fields are few, so this is never reached by honest use. */
const maxNames = 2_000

/** Whether a name says by itself that its value is a secret. */
export const soundsSecret = (name: string): boolean => {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  if (secretWords.has(last)) return true
  return (last === 'key' && secretKinds.has(words.at(-2) ?? '')) || last === 'apikey'
}

/** Cuts user and password out of every URL in a text: libraries put addresses into the sentences of their errors. */
export const withoutCredentials = (line: string): string => line.replaceAll(/:\/\/[^\s/"'@\\]*@/g, `://${hidden}@`)
