import { readFileSync, statSync } from 'node:fs'
import { systemClock } from '../time/clock.ts'

/** Variables by name, as the process sees them now. */
export type Environment = Readonly<Record<string, string | undefined>>

/** How long a secret file's text is trusted before its modification time is looked at again. */
const recheckMs = 1_000

interface CachedFile {
  text: string | undefined
  /** Differs when the file does: changed in place, or replaced as a mounted secret is. */
  state: string
  checkedMs: number
}

/**
 * Lets each variable that has a `NAME_FILE` read as that file's content without the line end, read again after the file changed;
 * what is set under `NAME` itself does not count then. A file that goes missing keeps its last text, for a rotation may take it
 * away for a moment; one that could never be read makes `NAME` undefined, which `read` refuses.
 */
export const withFiles = (
  variables: Record<string, string | undefined>,
  elapsedMs: () => number = systemClock.elapsedMs,
): Environment => {
  for (const [fileName, path] of Object.entries(variables)) {
    if (!fileName.endsWith(suffix) || !path) continue
    const name = fileName.slice(0, -suffix.length)
    // Settings are read many times for each request: all others stay plain properties.
    Object.defineProperty(variables, name, {
      configurable: true,
      enumerable: Object.hasOwn(variables, name),
      get: fileReader(path, elapsedMs),
      set() {},
    })
  }
  return variables
}

/** Names whose values may still change, by frozen environment. */
const changeable = new WeakMap<Environment, ReadonlySet<string>>()

/** Freezes an environment; from now on only variables that are read from files change. */
export const freezeEnvironment = (env: Environment): void => {
  const fromFiles = Object.entries(Object.getOwnPropertyDescriptors(env)).filter(([, { get }]) => get !== undefined)
  changeable.set(Object.freeze(env), new Set(fromFiles.map(([name]) => name)))
}

/** Returns the names whose values may still change; all of them while the environment is not frozen. */
export const changeableNames = (env: Environment, names: readonly string[]): readonly string[] => {
  const fromFiles = changeable.get(env)
  return fromFiles === undefined ? names : names.filter((name) => fromFiles.has(name))
}

/**
 * Returns the variables of `env` with these texts in place of its own. `env` itself is not written to, for it may be frozen, and a
 * variable that it reads from a file cannot be assigned to; all others are still read through it.
 */
export const withOverrides = (env: Environment, texts: Readonly<Record<string, string>>): Environment =>
  // An object made over another reads as that other where it has nothing of its own.
  Object.create(
    env,
    Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, { value, enumerable: true }])),
  )

const suffix = '_FILE'

const fileReader = (path: string, elapsedMs: () => number): (() => string | undefined) => {
  let cached: CachedFile | undefined
  return () => {
    if (!cached || elapsedMs() - cached.checkedMs >= recheckMs) cached = readFile(path, cached, elapsedMs())
    return cached.text
  }
}

const readFile = (path: string, cached: CachedFile | undefined, checkedMs: number): CachedFile => {
  try {
    const { mtimeMs, size, ino } = statSync(path)
    const state = `${mtimeMs} ${size} ${ino}`
    if (cached?.state === state) return { ...cached, checkedMs }
    return { text: readFileSync(path, 'utf8').replace(/\r?\n$/, ''), state, checkedMs }
  } catch {
    return { text: cached?.text, state: 'missing', checkedMs }
  }
}
