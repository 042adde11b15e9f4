import { changeableNames, type Environment } from './environment.ts'

/** Where a value is visible: the server only, nowhere (it is redacted), or the browser too. */
export type Audience = 'server' | 'secret' | 'client'

/** One variable: what it means, who may see it, and how its text becomes a value. */
export interface Setting<T> {
  doc: string
  audience: Audience
  /** What the reference prints as default. */
  fallback: string
  /** What the reference prints as allowed values. */
  allowed: string
  /** Whether the variable has a `_PREVIOUS` beside it, which `parse` then gets too. */
  hasPrevious?: boolean
  /** Parses a text, or its absence; throws a sentence when the text is invalid. */
  parse(text: string | undefined, previous?: string): T
}

/** Settings by the name of their variable. */
export type Settings = Readonly<Record<string, Setting<unknown>>>
/** What `read` gives for these settings. */
export type Values<S extends Settings> = { readonly [N in keyof S]: S[N] extends Setting<infer T> ? T : never }

/** A variable that cannot be obeyed, in words; never its value when it is secret. */
export interface SettingProblem {
  name: string
  sentence: string
}

/** Thrown by `read` with every problem at once. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings'
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map((problem) => `${problem.name}: ${problem.sentence}`).join('\n'))
    this.problems = problems
  }
}

/** Values of all settings; throws `InvalidSettings` with every problem. Empty text counts as unset. */
export const read = <S extends Settings>(settings: S, env: Environment): Values<S> => {
  const last = lastReadings.get(settings)
  // What was read under these very settings is of their type.
  if (last !== undefined && isUnchanged(last, env)) return last.values as Values<S>
  const names = last?.names ?? variablesOf(Object.entries(settings))
  const texts = Object.fromEntries(names.map((name) => [name, env[name]]))
  const values = readAll(settings, env)
  lastReadings.set(settings, { env, names, changeableNames: changeableNames(env, names), texts, values })
  return values
}

/** Texts as they were when they were last read, and what they meant. */
interface Reading {
  env: Environment
  names: readonly string[]
  /** Those of the names whose texts may be others by now. */
  changeableNames: readonly string[]
  texts: Readonly<Record<string, string | undefined>>
  values: unknown
}

const isUnchanged = ({ env: before, names, changeableNames, texts }: Reading, env: Environment): boolean =>
  (env === before ? changeableNames : names).every((name) => env[name] === texts[name])

/** Settings are read several times for each request, and mean the same until a text changes. */
const lastReadings = new WeakMap<Settings, Reading>()

const readAll = <S extends Settings>(settings: S, env: Environment): Values<S> => {
  const problems: SettingProblem[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    try {
      values[name] = valueOf(setting, name, env)
    } catch (error) {
      problems.push({ name, sentence: error instanceof Error ? error.message : String(error) })
    }
  }
  if (problems.length > 0) throw new InvalidSettings(problems)
  // Every name of `settings` was given the value of its own `parse`, which is what `Values` says.
  return Object.freeze(values) as Values<S>
}

const valueOf = (setting: Setting<unknown>, name: string, env: Environment): unknown =>
  setting.hasPrevious
    ? setting.parse(textOf(env, name), textOf(env, previousName(name)))
    : setting.parse(textOf(env, name))

/** A secret that was meant and is missing must not read as unset, which can open what it was to close. */
const textOf = (env: Environment, name: string): string | undefined => {
  const given = env[name]
  if (given === undefined && env[`${name}_FILE`]) throw new Error(`the file of ${name}_FILE cannot be read`)
  return given === '' ? undefined : given
}

const previousName = (name: string): string => `${name}_PREVIOUS`

/** What is wrong with the environment for these settings; empty when nothing is. */
export const problemsOf = (settings: Settings, env: Environment): readonly SettingProblem[] => {
  const exposed = secretNames(settings)
    .map(clientName)
    .filter((name) => env[name] !== undefined)
  const problems = exposed.map((name) => ({ name, sentence: 'would put a secret into the browser; unset it' }))
  try {
    read(settings, env)
    return problems
  } catch (error) {
    if (error instanceof InvalidSettings) return [...problems, ...error.problems]
    throw error
  }
}

/** Names of the variables that hold secrets; their values are redacted under these names. */
export const secretNames = (settings: Settings): string[] =>
  variablesOf(Object.entries(settings).filter(([, { audience }]) => audience === 'secret'))

const variablesOf = (settings: readonly [string, Setting<unknown>][]): string[] =>
  settings.flatMap(([name, { hasPrevious }]) => (hasPrevious ? [name, previousName(name)] : [name]))

/** Returns the `CLIENT_` name of a variable, under which a build inlines it into the pages. */
export const clientName = (name: string): string => `CLIENT_${name.replace(/^SVC_/, '')}`

const truthy = new Set(['true', '1', 'yes', 'on'])
const falsy = new Set(['false', '0', 'no', 'off'])

/** Parses the specification's booleans, case-insensitively; `undefined` for any other text. */
export const parseFlag = (text: string | undefined, alsoTrue: readonly string[] = []): boolean | undefined => {
  const word = text?.trim().toLowerCase()
  if (word === undefined) return undefined
  if (truthy.has(word) || alsoTrue.includes(word)) return true
  return falsy.has(word) ? false : undefined
}

interface Options {
  audience?: Audience
}

/** Text with a default. */
export const text = (fallback: string, doc: string, options: Options = {}): Setting<string> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback,
  allowed: 'text',
  parse: (given) => given ?? fallback,
})

/** Text that may be absent. */
export const optional = (doc: string, options: Options = {}): Setting<string | undefined> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback: 'none',
  allowed: 'text',
  parse: (given) => given,
})

/** A secret: redacted by name, also read from `NAME_FILE`. */
export const secret = (doc: string): Setting<string | undefined> => ({ ...optional(doc), audience: 'secret' })

/** A key and the one it replaced: both verify and decrypt, only `current` signs and encrypts. */
export interface RotatingKey {
  current: string
  previous: string | undefined
}

/** A signing or encryption key. While `NAME_PREVIOUS` holds the one before it, what that one made stays valid. */
export const signingKey = (doc: string): Setting<RotatingKey | undefined> => ({
  doc,
  audience: 'secret',
  fallback: 'none',
  allowed: 'text; the key before it under the same name with _PREVIOUS',
  hasPrevious: true,
  parse: (current, previous) => {
    if (current !== undefined) return { current, previous }
    if (previous !== undefined) throw new Error('must be set when its _PREVIOUS is: only the current key signs')
    return undefined
  },
})

interface WholeOptions extends Options {
  min?: number
  max?: number
  /** Take the default instead of refusing to start when the text is no such number. */
  lenient?: boolean
}

/** A whole number within bounds. */
export const whole = (fallback: number, doc: string, options: WholeOptions = {}): Setting<number> => {
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
  /** Further words that mean true for this variable. */
  alsoTrue?: readonly string[]
}

/** A boolean by the specification's rule: unknown words count as unset and take the default. */
export const flag = (fallback: boolean, doc: string, options: FlagOptions = {}): Setting<boolean> => ({
  doc,
  audience: options.audience ?? 'server',
  fallback: String(fallback),
  allowed: ['true/1/yes/on', ...(options.alsoTrue ?? []), 'false/0/no/off'].join(', '),
  parse: (given) => parseFlag(given, options.alsoTrue) ?? fallback,
})

/** A boolean whose absence means something of its own. */
export const maybeFlag = (doc: string, options: FlagOptions = {}): Setting<boolean | undefined> => ({
  ...flag(false, doc, options),
  fallback: 'unset',
  parse: (given) => parseFlag(given, options.alsoTrue),
})

/** On only for exactly this text. */
export const exactly = (wanted: string, doc: string): Setting<boolean> => ({
  doc,
  audience: 'server',
  fallback: 'off',
  allowed: `exactly ${wanted}`,
  parse: (given) => given === wanted,
})

/** One of a closed set of words. */
export const oneOf = <const T extends string>(
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

/** Comma-separated text; blanks around items are cut, empty items dropped. */
export const list = (doc: string, options: Options = {}): Setting<readonly string[]> => ({
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

/** An absolute URL of one of these protocols, or absent. */
export const url = (doc: string, options: UrlOptions): Setting<URL | undefined> => ({
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
    if (!/^https?:$/.test(parsed.protocol) && hasMisreadPassword(parsed)) throw new Error(misreadPassword)
    return parsed
  },
})

/** What to do about a URL that `hasMisreadPassword`. */
export const misreadPassword = 'must have /, ? and # in its password percent-encoded'

/** Whether a URL without credentials has an `@` behind its host: its password began like a port, and was read as host and path. */
export const hasMisreadPassword = ({ username, password, port, pathname, search, hash: fragment }: URL): boolean =>
  username === '' && password === '' && port !== '' && `${pathname}${search}${fragment}`.includes('@')
