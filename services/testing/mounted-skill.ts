import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An operator's skill that replaces a built-in one. */
export interface MountedSkill extends AsyncDisposable {
  /** Environment variables that make a process read this skill. */
  readonly variables: Record<string, string>
}

/** Writes a skill with this text. A process reads it as if it were mounted over the built-in skill with this name. */
export const mountSkill = async (name: string, text: string): Promise<MountedSkill> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-skill-'))
  const [file, preload] = [join(directory, 'SKILL.md'), join(directory, 'mount.mjs')]
  await writeFile(file, `---\nname: ${name}\ndescription: Notes of the operator about ${name}.\n---\n\n${text}\n`)
  await writeFile(preload, mountCommand(`/skills/${name}/SKILL.md`, file))
  return {
    variables: { NODE_OPTIONS: `--import=${preload}` },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

const mountCommand = (ending: string, file: string): string => `
  import promises from 'node:fs/promises'
  import { syncBuiltinESMExports } from 'node:module'
  const { readFile } = promises
  promises.readFile = (path, ...rest) =>
    readFile(String(path).endsWith(${JSON.stringify(ending)}) ? ${JSON.stringify(file)} : path, ...rest)
  syncBuiltinESMExports()
`
