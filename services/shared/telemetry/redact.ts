/** The text that replaces a secret in logs. */
export const redactionPlaceholder = '[hidden]'

/**
 * Last words of field names with secret values, as in `sessionCookie` and `BOT_TOKEN`. `sql` is included, because
 * statements may contain personal data.
 */
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
/** Words before `key` that denote a secret: `key` and `apiKey` are secrets, `hostKey` is not. */
const secretKinds = new Set(['', 'access', 'api', 'encryption', 'private', 'routing', 'secret', 'signing'])

const maxDepth = 6
const maxItems = 100

/**
 * Returns a function that replaces the values of secret fields at every depth. `secretNames` are additional field
 * names.
 */
export const createRedactor = (secretNames: readonly string[]) => {
  const known = new Map(secretNames.map((name) => [name, true]))
  const isSecret = (name: string): boolean => {
    const found = known.get(name)
    if (found !== undefined) return found
    const secret = isSecretName(name)
    if (known.size < maxCachedNames) known.set(name, secret)
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
      shown[name] =
        isSecret(name) && value !== undefined && !isTokenCount(name, value)
          ? redactionPlaceholder
          : redact(value, depth + 1)
    }
    if (fields instanceof Error && fields.cause !== undefined) shown.cause = redact(fields.cause, depth + 1)
    return shown
  }

  return (fields: object): Record<string, unknown> => redactFields(fields, 0)
}

/** Returns whether a field is a number of tokens, such as `inputTokens: 12`, and not a secret token. */
const isTokenCount = (name: string, value: unknown): boolean => typeof value === 'number' && /tokens$/i.test(name)

/** Maximum cached names; the log has far fewer fields. */
const maxCachedNames = 2_000

/** Returns whether a name denotes a secret. */
export const isSecretName = (name: string): boolean => {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  if (secretWords.has(last)) return true
  return (last === 'key' && secretKinds.has(words.at(-2) ?? '')) || last === 'apikey'
}

/** Matches `://` after a scheme, also escaped in JSON or percent-encoded, as in the query of another URL. */
const schemePattern = /(?<=[a-z][a-z\d+.-]{0,31})(?<separator>:\/\/|:\\\/\\\/|%3A%2F%2F)/gi
const parameterPattern = /(?<=[?&#;])(?<name>[\w.-]{1,128})=/g

/**
 * Returns a text without the credentials of its URLs, which libraries include in error messages. A password may contain
 * any character of a URL, so everything up to the last `@` counts as credentials. If a password contains spaces, the
 * following words may be hidden too. The time is linear in the length of the text.
 */
export const removeCredentials = (text: string): string => {
  if (!text.includes('@') && !text.includes('%40') && !text.includes('=')) return text
  return text
    .split('\n')
    .map((line) => hideSecretParameters(hideUrlCredentials(line)))
    .join('\n')
}

/** Hides the values of secret query parameters, also in a URL that is itself the value of a parameter. */
const hideSecretParameters = (line: string): string => {
  const pieces: string[] = []
  let from = 0
  for (const { 0: assigned, index, groups } of line.matchAll(parameterPattern)) {
    if (index < from || !isSecretName(groups?.name ?? '')) continue
    const start = index + assigned.length
    const [value = ''] = /^[^\s&#"'<>]*/.exec(line.slice(start)) ?? []
    if (value === '') continue
    pieces.push(line.slice(from, start), redactionPlaceholder)
    from = start + value.length
  }
  return [...pieces, line.slice(from)].join('')
}

const hideUrlCredentials = (line: string): string => {
  const pieces: string[] = []
  let from = 0
  let run: TextRun = { end: 0, lastAt: -1, lastEncodedAt: -1 }
  const lastAt = line.lastIndexOf('@')
  for (const { index, groups } of line.matchAll(schemePattern)) {
    const separator = groups?.separator ?? ''
    const start = index + separator.length
    if (index < from) continue
    if (start >= run.end) run = findTextRun(line, start)
    let end = separator.startsWith('%') ? Math.max(run.lastAt, run.lastEncodedAt) : run.lastAt
    if (end >= start && separator === '://' && isPath(line.slice(start, end), line.slice(0, index))) continue
    if (end < start && lastAt > start && hasOpenPassword(line, start)) end = lastAt
    if (end <= start) continue
    pieces.push(line.slice(from, start), redactionPlaceholder)
    from = end
  }
  return [...pieces, line.slice(from)].join('')
}

/** A run of text without spaces that contains a URL. It is searched once, even if it contains several schemes. */
interface TextRun {
  end: number
  /** Position of the last `@`; -1 if there is none. */
  lastAt: number
  lastEncodedAt: number
}

const findTextRun = (line: string, start: number): TextRun => {
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
 * Returns whether the `@` is part of a path, as in `http://host.example/a@b` and `file:///a@b`, and not the end of
 * credentials. Returns false for other schemes: in `nats://tok/en@host`, `tok/en` is a token. An http URL has a path
 * only if the text before the path looks like a host name.
 */
const isPath = (before: string, upToScheme: string): boolean => {
  if (before.includes(':') || !/[/?#]/.test(before)) return false
  if (/(?:^|[^a-z\d+.-])file$/i.test(upToScheme.slice(-5))) return before.startsWith('/')
  return /(?:^|[^a-z\d+.-])https?$/i.test(upToScheme.slice(-6)) && /^(?:localhost|[^/?#]+\.[^/?#]*)[/?#]/i.test(before)
}

/**
 * Returns whether a user name follows at `start`, with a colon that is not followed by a port. A password with spaces
 * may start after the colon.
 */
const hasOpenPassword = (line: string, start: number): boolean => {
  openPasswordPattern.lastIndex = start
  return openPasswordPattern.test(line)
}

/** Matches user names of at most 256 characters before a password. */
const openPasswordPattern = /[^\s/?#@:[]{0,256}:(?!\d{1,5}(?:[/?#),.;'"]|:?(?:\s|$))|[/?#])/y
