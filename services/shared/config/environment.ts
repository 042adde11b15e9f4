import { readFileSync, statSync } from 'node:fs'

/** Variables by name, as the process sees them now. */
export type Environment = Readonly<Record<string, string | undefined>>

/** How long a secret file's text is trusted before its modification time is looked at again. */
const recheckMs = 1_000

interface CachedFile {
  text: string | undefined
  /** Differs when the file does: changed in place, or replaced as a mounted secret is. */
  state: string
  checkedAtMs: number
}

/**
 * Lets each variable that has a `NAME_FILE` read as that file's content without the line end, read again after the file changed;
 * what is set under `NAME` itself does not count then. A file that goes missing keeps its last text, for a rotation may take it
 * away for a moment; one that could never be read makes `NAME` undefined, which `read` refuses.
 */
export const withFiles = (variables: Record<string, string | undefined>, now: () => number = Date.now): Environment => {
  for (const [fileName, path] of Object.entries(variables)) {
    if (!fileName.endsWith(suffix) || !path) continue
    const name = fileName.slice(0, -suffix.length)
    // Settings are read many times for each request: all others stay plain properties.
    Object.defineProperty(variables, name, {
      configurable: true,
      enumerable: Object.hasOwn(variables, name),
      get: fileReader(path, now),
      set() {},
    })
  }
  return variables
}

/** Names whose texts may still change, of environments that nobody writes to any more. */
const settled = new WeakMap<Environment, ReadonlySet<string>>()

/** Says that nobody writes to an environment any more: from now on only what stands in files changes. */
export const settle = (env: Environment): void => {
  const fromFiles = Object.entries(Object.getOwnPropertyDescriptors(env)).filter(([, { get }]) => get !== undefined)
  settled.set(Object.freeze(env), new Set(fromFiles.map(([name]) => name)))
}

/** Those of these names whose texts may be others the next time; all of them in an environment that is not settled. */
export const changing = (env: Environment, names: readonly string[]): readonly string[] => {
  const fromFiles = settled.get(env)
  return fromFiles === undefined ? names : names.filter((name) => fromFiles.has(name))
}

const suffix = '_FILE'

const fileReader = (path: string, now: () => number): (() => string | undefined) => {
  let cached: CachedFile | undefined
  return () => {
    if (!cached || now() - cached.checkedAtMs >= recheckMs) cached = readFile(path, cached, now())
    return cached.text
  }
}

const readFile = (path: string, cached: CachedFile | undefined, checkedAtMs: number): CachedFile => {
  try {
    const { mtimeMs, size, ino } = statSync(path)
    const state = `${mtimeMs} ${size} ${ino}`
    if (cached?.state === state) return { ...cached, checkedAtMs }
    return { text: readFileSync(path, 'utf8').replace(/\r?\n$/, ''), state, checkedAtMs }
  } catch {
    return { text: cached?.text, state: 'missing', checkedAtMs }
  }
}
