import { readFileSync, statSync } from 'node:fs'
import { systemClock } from '../time/clock.ts'

/** Environment variables by name, with their current values. */
export type Environment = Readonly<Record<string, string | undefined>>

/** How long the content of a file is cached before its modification time is checked again. */
const recheckMs = 1_000

interface CachedFile {
  text: string | undefined
  /**
   * Modification time, size and inode as text. The text differs after the file was changed or replaced. Kubernetes
   * replaces the file of a mounted secret.
   */
  state: string
  checkedMs: number
}

/**
 * Defines `NAME` for each `NAME_FILE` as the content of that file without the final line break, and returns the
 * variables. The file overrides a value of `NAME` and is read again after it changed. A missing file keeps its last
 * content, because a rotation may remove it briefly. If the file was never readable, `NAME` is undefined, which
 * `parseSettings` rejects.
 */
export const resolveFileVariables = (
  variables: Record<string, string | undefined>,
  elapsedMs: () => number = systemClock.elapsedMs,
): Environment => {
  for (const [fileName, path] of Object.entries(variables)) {
    if (!fileName.endsWith(fileSuffix) || !path) continue
    const name = fileName.slice(0, -fileSuffix.length)
    // Only variables with a file get a getter, because settings are read many times per request.
    Object.defineProperty(variables, name, {
      configurable: true,
      enumerable: Object.hasOwn(variables, name),
      get: createFileReader(path, elapsedMs),
      set() {},
    })
  }
  return variables
}

/** For each frozen environment: the names of variables that are read from files. Only their values can change. */
const changeableNamesByEnvironment = new WeakMap<Environment, ReadonlySet<string>>()

/** Freezes an environment, so that only variables that are read from files can change. */
export const freezeEnvironment = (env: Environment): void => {
  const fromFiles = Object.entries(Object.getOwnPropertyDescriptors(env)).filter(([, { get }]) => get !== undefined)
  changeableNamesByEnvironment.set(Object.freeze(env), new Set(fromFiles.map(([name]) => name)))
}

/** Returns the names whose values may still change: all of them until the environment is frozen. */
export const listChangeableNames = (env: Environment, names: readonly string[]): readonly string[] => {
  const fromFiles = changeableNamesByEnvironment.get(env)
  return fromFiles === undefined ? names : names.filter((name) => fromFiles.has(name))
}

/**
 * Returns an environment with these values instead of those of `env`. All other variables are still read from `env`,
 * including changes. `env` is not modified, because it may be frozen and variables from files cannot be assigned.
 */
export const overrideVariables = (env: Environment, texts: Readonly<Record<string, string>>): Environment =>
  // `env` is the prototype, so properties that are not overridden are read from it.
  Object.create(
    env,
    Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, { value, enumerable: true }])),
  )

const fileSuffix = '_FILE'

const createFileReader = (path: string, elapsedMs: () => number): (() => string | undefined) => {
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
