import { listChangeableNames, type Environment } from './environment.ts'

/**
 * Where a value may appear: `server` only on the server, `secret` nowhere (it is redacted), `client` also in the
 * browser.
 */
export type Audience = 'server' | 'secret' | 'client'

/** The declaration of an environment variable: its documentation, its audience and its parser. */
export interface Setting<T> {
  doc: string
  audience: Audience
  /** The default, as shown in the settings reference. */
  fallback: string
  /** The allowed values, as shown in the settings reference. */
  allowed: string
  /** Whether a second variable with the suffix `_PREVIOUS` is read; its text is the second argument of `parse`. */
  hasPrevious?: boolean
  /** Parses the text of the variable, undefined if unset. The message of a thrown error completes `<NAME>: …`. */
  parse(text: string | undefined, previous?: string): T
}

/** Settings by variable name. */
export type Settings = Readonly<Record<string, Setting<unknown>>>
/** The parsed values of settings, by variable name. */
export type SettingValues<S extends Settings> = { readonly [N in keyof S]: S[N] extends Setting<infer T> ? T : never }

/** An invalid variable and its problem. `sentence` never contains the value of a secret. */
export interface SettingProblem {
  name: string
  sentence: string
}

/** Thrown by `parseSettings`, with all invalid variables. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings'
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map((problem) => `${problem.name}: ${problem.sentence}`).join('\n'))
    this.problems = problems
  }
}

/** Returns the values of all settings; throws `InvalidSettings` with all problems. Empty text counts as unset. */
export const parseSettings = <S extends Settings>(settings: S, env: Environment): SettingValues<S> => {
  const last = lastReadings.get(settings)
  // The cache key is `settings`, so the cached values have the types of these settings.
  if (last !== undefined && isUnchanged(last, env)) return last.values as SettingValues<S>
  const names = last?.names ?? listVariables(Object.entries(settings))
  const texts = Object.fromEntries(names.map((name) => [name, env[name]]))
  const values = readAll(settings, env)
  lastReadings.set(settings, { env, names, changeableNames: listChangeableNames(env, names), texts, values })
  return values
}

/** The texts of variables when the settings were last read, and the values parsed from them. */
interface CachedReading {
  env: Environment
  names: readonly string[]
  /** Names of the variables whose texts may have changed since the last read. */
  changeableNames: readonly string[]
  texts: Readonly<Record<string, string | undefined>>
  values: unknown
}

const isUnchanged = ({ env: before, names, changeableNames, texts }: CachedReading, env: Environment): boolean =>
  (env === before ? changeableNames : names).every((name) => env[name] === texts[name])

/** Caches the parsed values, because settings are read several times per request and rarely change. */
const lastReadings = new WeakMap<Settings, CachedReading>()

const readAll = <S extends Settings>(settings: S, env: Environment): SettingValues<S> => {
  const problems: SettingProblem[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    try {
      values[name] = parseSetting(setting, name, env)
    } catch (error) {
      problems.push({ name, sentence: error instanceof Error ? error.message : String(error) })
    }
  }
  if (problems.length > 0) throw new InvalidSettings(problems)
  // The loop assigned each name of `settings` the result of its `parse`, as the return type declares.
  return Object.freeze(values) as SettingValues<S>
}

const parseSetting = (setting: Setting<unknown>, name: string, env: Environment): unknown =>
  setting.hasPrevious
    ? setting.parse(readVariable(env, name), readVariable(env, formatPreviousName(name)))
    : setting.parse(readVariable(env, name))

/**
 * Returns the text of a variable; undefined if unset or empty. Throws if its file cannot be read, because a missing
 * secret must not disable the protection that it configures.
 */
const readVariable = (env: Environment, name: string): string | undefined => {
  const given = env[name]
  if (given === undefined && env[`${name}_FILE`])
    throw new Error(`cannot read the file set in ${name}_FILE; check its path and permissions`)
  return given === '' ? undefined : given
}

const formatPreviousName = (name: string): string => `${name}_PREVIOUS`

/**
 * Returns all problems of these settings, including secrets that are exposed to the browser; empty if all are valid.
 */
export const findSettingProblems = (settings: Settings, env: Environment): readonly SettingProblem[] => {
  const exposed = listSecretNames(settings)
    .map(formatClientName)
    .filter((name) => env[name] !== undefined)
  const problems = exposed.map((name) => ({ name, sentence: 'would expose a secret to the browser; unset it' }))
  try {
    parseSettings(settings, env)
    return problems
  } catch (error) {
    if (error instanceof InvalidSettings) return [...problems, ...error.problems]
    throw error
  }
}

/** Returns the names of variables with secrets; logs hide the values of fields with these names. */
export const listSecretNames = (settings: Settings): string[] =>
  listVariables(Object.entries(settings).filter(([, { audience }]) => audience === 'secret'))

const listVariables = (settings: readonly [string, Setting<unknown>][]): string[] =>
  settings.flatMap(([name, { hasPrevious }]) => (hasPrevious ? [name, formatPreviousName(name)] : [name]))

/** Returns the `CLIENT_` name of a variable, under which a build inlines it into the pages. */
export const formatClientName = (name: string): string => `CLIENT_${name.replace(/^SVC_/, '')}`

const truthy = new Set(['true', '1', 'yes', 'on'])
const falsy = new Set(['false', '0', 'no', 'off'])

/** Parses a boolean such as `true`, `1`, `yes` or `on`, case-insensitively; undefined for any other text. */
export const parseFlag = (text: string | undefined, alsoTrue: readonly string[] = []): boolean | undefined => {
  const word = text?.trim().toLowerCase()
  if (word === undefined) return undefined
  if (truthy.has(word) || alsoTrue.includes(word)) return true
  return falsy.has(word) ? false : undefined
}

interface Options {
  audience?: Audience
}

/** Returns a setting for text with a default. */
export const textSetting = (fallback: string, doc: string, options: Options = {}): Setting<string> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback,
  allowed: 'text',
  parse: (given) => given ?? fallback,
})

/** Returns a setting for text that may be unset. */
export const optionalTextSetting = (doc: string, options: Options = {}): Setting<string | undefined> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback: 'none',
  allowed: 'text',
  parse: (given) => given,
})

/** Returns a setting for a secret, which logs hide. */
export const secretSetting = (doc: string): Setting<string | undefined> => ({
  ...optionalTextSetting(doc),
  audience: 'secret',
})

/** A key with its predecessor. Both verify and decrypt; only `current` signs and encrypts. */
export interface RotatingKey {
  current: string
  previous: string | undefined
}

/**
 * Returns a setting for a signing or encryption key. Data of the previous key stays valid while `NAME_PREVIOUS` holds
 * it.
 */
export const signingKeySetting = (doc: string): Setting<RotatingKey | undefined> => ({
  doc,
  audience: 'secret',
  fallback: 'none',
  allowed: 'text; the previous key in the variable with the suffix _PREVIOUS',
  hasPrevious: true,
  parse: (current, previous) => {
    if (current !== undefined) return { current, previous }
    if (previous !== undefined)
      throw new Error('must be set if its _PREVIOUS variable is set, because only the current key signs')
    return undefined
  },
})

interface WholeOptions extends Options {
  min?: number
  max?: number
  /** Whether an invalid number selects the default instead of preventing the start. */
  lenient?: boolean
}

/** Returns a setting for a whole number from `min` to `max`. */
export const wholeNumberSetting = (fallback: number, doc: string, options: WholeOptions = {}): Setting<number> => {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options
  const allowed = max === Number.MAX_SAFE_INTEGER ? `whole number ≥ ${min}` : `whole number ${min}–${max}`
  return {
    doc,
    audience: options.audience ?? 'server',
    fallback: String(fallback),
    allowed,
    parse: (given) => {
      if (given === undefined) return fallback
      const value = /^\s*-?\d+\s*$/.test(given) ? Number(given) : Number.NaN
      if (value >= min && value <= max) return value
      if (options.lenient) return fallback
      throw new Error(`must be a ${allowed}`)
    },
  }
}

interface FlagOptions extends Options {
  /** Additional words that mean true. */
  alsoTrue?: readonly string[]
}

/** Returns a setting for a boolean. An unknown word selects the default, as the specification requires. */
export const flagSetting = (fallback: boolean, doc: string, options: FlagOptions = {}): Setting<boolean> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback: String(fallback),
  allowed: ['true/1/yes/on', ...(options.alsoTrue ?? []), 'false/0/no/off'].join(', '),
  parse: (given) => parseFlag(given, options.alsoTrue) ?? fallback,
})

/** Returns a setting for a boolean that is undefined if unset or unknown. */
export const optionalFlagSetting = (doc: string, options: FlagOptions = {}): Setting<boolean | undefined> => ({
  ...flagSetting(false, doc, options),
  fallback: 'unset',
  parse: (given) => parseFlag(given, options.alsoTrue),
})

/** Returns a setting that is true only for exactly this text. */
export const exactTextSetting = (wanted: string, doc: string): Setting<boolean> => ({
  doc,
  audience: 'server',
  fallback: 'off',
  allowed: `exactly ${wanted}`,
  parse: (given) => given === wanted,
})

/** Returns a setting for one of several words. */
export const choiceSetting = <const T extends string>(
  words: readonly T[],
  fallback: NoInfer<T>,
  doc: string,
  options: Options = {},
): Setting<T> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback,
  allowed: words.join(', '),
  parse: (given) => {
    if (given === undefined) return fallback
    const word = words.find((known) => known === given.trim().toLowerCase())
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`)
    return word
  },
})

/** Returns a setting for comma-separated items. White space around items and empty items are removed. */
export const listSetting = (doc: string, options: Options = {}): Setting<readonly string[]> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback: 'none',
  allowed: 'comma-separated text',
  parse: (given) =>
    (given ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
})

interface UrlOptions extends Options {
  protocols: readonly string[]
}

/** Returns a setting for an absolute URL with one of these protocols; undefined if unset. */
export const urlSetting = (doc: string, options: UrlOptions): Setting<URL | undefined> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback: 'none',
  allowed: `URL (${options.protocols.join(', ')})`,
  parse: (given) => {
    if (given === undefined) return undefined
    const parsed = URL.canParse(given) ? new URL(given) : undefined
    if (!parsed || !options.protocols.includes(parsed.protocol.slice(0, -1))) {
      throw new Error(`must be an absolute URL with ${options.protocols.join(' or ')}`)
    }
    if (!/^https?:$/.test(parsed.protocol) && hasUnescapedPassword(parsed)) throw new Error(passwordEncodingError)
    return parsed
  },
})

/** The error message for a URL whose password contains unescaped reserved characters. */
export const passwordEncodingError = 'must percent-encode the characters /, ? and # in its password'

/**
 * Returns whether an unescaped `/`, `?` or `#` in the password broke the URL. The user was then parsed as the host and
 * the start of the password as the port. An `@` remains in the path, query or fragment.
 */
export const hasUnescapedPassword = ({ username, password, port, pathname, search, hash: fragment }: URL): boolean =>
  username === '' && password === '' && port !== '' && `${pathname}${search}${fragment}`.includes('@')
