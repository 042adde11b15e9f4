/** Replaces a secret in a log line. */
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
/** Words before `key` that make it a secret: `key` and `apiKey` are secrets, `hostKey` is a name. */
const secretKinds = new Set(['', 'access', 'api', 'encryption', 'private', 'routing', 'secret', 'signing'])

const maxDepth = 6
const maxItems = 100

/** Returns a function that hides values by their field names, at every depth. `secretNames` adds the names of secret settings. */
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
    // `message` and `stack` of an error are not enumerable.
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

/** A number such as `inputTokens: 12` counts tokens; a text or a list contains tokens. */
const isCount = (name: string, value: unknown): boolean => typeof value === 'number' && /tokens$/i.test(name)

/** Maximum cached names; the log has far fewer fields. */
const maxNames = 2_000

/** Returns whether a name denotes a secret. */
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

/** `://`, also percent-encoded, as in the query of another URL. */
const schemes = /(?<=[a-z][a-z\d+.-]{0,31})(?<separator>:\/\/|:\\\/\\\/|%3A%2F%2F)/gi
const parameters = /(?<=[?&#;])(?<name>[\w.-]{1,128})=/g

/**
 * Returns a text without the credentials of its URLs: libraries put addresses into their error messages. A password may contain any
 * character of a URL, so everything up to the last `@` counts as credentials. Where only spaces separate a broken password from the
 * words after it, more is hidden than necessary. The time is linear in the length of the text.
 */
export const withoutCredentials = (text: string): string => {
  if (!text.includes('@') && !text.includes('%40') && !text.includes('=')) return text
  return text
    .split('\n')
    .map((line) => withoutSecretParameters(lineWithoutCredentials(line)))
    .join('\n')
}

/** The value of a parameter may be a URL with parameters of its own. */
const withoutSecretParameters = (line: string): string => {
  const pieces: string[] = []
  let from = 0
  for (const { 0: assigned, index, groups } of line.matchAll(parameters)) {
    if (index < from || !soundsSecret(groups?.name ?? '')) continue
    const start = index + assigned.length
    const [value = ''] = /^[^\s&#"'<>]*/.exec(line.slice(start)) ?? []
    if (value === '') continue
    pieces.push(line.slice(from, start), hidden)
    from = start + value.length
  }
  return [...pieces, line.slice(from)].join('')
}

const lineWithoutCredentials = (line: string): string => {
  const pieces: string[] = []
  let from = 0
  let run: Run = { end: 0, lastAt: -1, lastEncodedAt: -1 }
  const lastAt = line.lastIndexOf('@')
  for (const { index, groups } of line.matchAll(schemes)) {
    const separator = groups?.separator ?? ''
    const start = index + separator.length
    if (index < from) continue
    if (start >= run.end) run = runAt(line, start)
    let end = separator.startsWith('%') ? Math.max(run.lastAt, run.lastEncodedAt) : run.lastAt
    if (end >= start && separator === '://' && isPath(line.slice(start, end), line.slice(0, index))) continue
    if (end < start && lastAt > start && hasOpenPassword(line, start)) end = lastAt
    if (end <= start) continue
    pieces.push(line.slice(from, start), hidden)
    from = end
  }
  return [...pieces, line.slice(from)].join('')
}

/** The text that contains a URL, up to the next space; searched once, even with several schemes. */
interface Run {
  end: number
  /** Where the last `@` is; before the start of the run for none. */
  lastAt: number
  lastEncodedAt: number
}

const runAt = (line: string, start: number): Run => {
  const text = line.slice(start)
  const space = text.search(/\s/)
  const run = space < 0 ? text : text.slice(0, space)
  const [at, encodedAt] = [run.lastIndexOf('@'), run.lastIndexOf('%40')]
  return {
    end: start + run.length,
    lastAt: at < 0 ? -1 : start + at,
    lastEncodedAt: encodedAt < 0 ? -1 : start + encodedAt,
  }
}

/**
 * Returns whether an `@` is part of a path: `http://host.example/a@b`, `file:///a@b`. A path of any other scheme has none, and what precedes
 * the slash in `nats://tok/en@host` belongs to a token, as it may in a web address unless it has the form of a host.
 */
const isPath = (before: string, upToScheme: string): boolean => {
  if (before.includes(':') || !/[/?#]/.test(before)) return false
  if (/(?:^|[^a-z\d+.-])file$/i.test(upToScheme.slice(-5))) return before.startsWith('/')
  return /(?:^|[^a-z\d+.-])https?$/i.test(upToScheme.slice(-6)) && /^(?:localhost|[^/?#]+\.[^/?#]*)[/?#]/i.test(before)
}

/** Returns whether the text after a colon is no port, so that a password with spaces may start there. */
const hasOpenPassword = (line: string, start: number): boolean => {
  openPassword.lastIndex = start
  return openPassword.test(line)
}

/** Matches user names of at most 256 characters before a password. */
const openPassword = /[^\s/?#@:[]{0,256}:(?!\d{1,5}(?:[/?#),.;'"]|:?(?:\s|$))|[/?#])/y
