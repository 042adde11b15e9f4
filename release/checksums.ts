import { createHash } from 'node:crypto'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const checksumsName = 'SHA256SUMS'

/** Returns the SHA-256 checksum of a file in hexadecimal. */
export const hashFile = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

/** Writes the checksums of all files of a folder in the format of `sha256sum`. */
export const writeChecksums = async (folder: string): Promise<void> => {
  const names = await listArtifacts(folder)
  const lines = await Promise.all(names.map(async (name) => `${await hashFile(join(folder, name))}  ${name}\n`))
  await writeFile(join(folder, checksumsName), lines.join(''))
}

/** Returns the files of a folder that lack a checksum, are missing, or differ from their checksum. */
export const findChecksumProblems = async (folder: string): Promise<string[]> => {
  const lines = (await readFile(join(folder, checksumsName), 'utf8')).split('\n').filter(Boolean)
  const expected = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]))
  const names = await listArtifacts(folder)
  const problems = [...expected.keys()].filter((name) => !names.includes(name)).map((name) => `"${name}" is missing`)
  for (const name of names) {
    const checksum = expected.get(name)
    if (checksum === undefined) problems.push(`"${name}" has no checksum`)
    else if (checksum !== (await hashFile(join(folder, name)))) problems.push(`"${name}" differs from its checksum`)
  }
  return problems
}

const listArtifacts = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name !== checksumsName).toSorted()
