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
 * The environment with `NAME_FILE` honoured: when it is set, `NAME` reads as that file's content without the line end,
 * read again after the file changed. A file that goes missing keeps its last text, for a rotation may take it away for a moment;
 * one that could never be read makes `NAME` undefined, which `read` refuses.
 */
export const withFiles = (variables: Record<string, string | undefined>, now: () => number = Date.now): Environment => {
  const files = new Map<string, CachedFile>()
  // Settings are read many times for each request; the names of their files are made once.
  const fileNames = new Map<string, string>()
  const fileName = (name: string): string => {
    const known = fileNames.get(name)
    if (known !== undefined) return known
    fileNames.set(name, `${name}_FILE`)
    return `${name}_FILE`
  }

  const fromFile = (path: string): string | undefined => {
    const cached = files.get(path)
    if (cached && now() - cached.checkedAtMs < recheckMs) return cached.text
    const fresh = readFile(path, cached, now())
    files.set(path, fresh)
    return fresh.text
  }

  return new Proxy(variables, {
    get(target, name) {
      if (typeof name !== 'string') return undefined
      const path = target[fileName(name)]
      return path ? fromFile(path) : target[name]
    },
  })
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
