import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { runCommand } from './command.ts'

/** The configuration of an image, in the format of Docker. */
export interface ImageConfig {
  Env?: readonly string[]
  Entrypoint?: readonly string[]
  Cmd?: readonly string[]
  User?: string
  WorkingDir?: string
  StopSignal?: string
}

const packWithinMs = 300_000
/** The same input always gives the same archive. */
const reproducible = ['--sort=name', '--mtime=@0', '--numeric-owner']
const ownedByRoot = ['--owner=0', '--group=0']
const created = '2026-01-01T00:00:00Z'

/** Packs a folder as a layer of an image. All files belong to root, unless the owners are kept. */
export const packLayer = async (folder: string, file: string, owners?: 'with owners'): Promise<void> => {
  const options = [...reproducible, ...(owners === undefined ? ownedByRoot : [])]
  const words = ['--create', '--file', file, '--directory', folder, '.']
  await runCommand(['tar', ...options, ...words], { timeoutMs: packWithinMs })
}

/** Writes an archive with one image, which containerd imports. The layers are files next to the archive. */
export const writeImageArchive = async (
  tag: string,
  layers: readonly string[],
  config: ImageConfig,
  file: string,
): Promise<void> => {
  const folder = `${file}.parts`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const digests = await Promise.all(layers.map(hashFile))
  const names = digests.map((digest) => `${digest}.tar`)
  for (const [index, layer] of layers.entries()) await link(layer, join(folder, names[index] ?? ''))
  const description = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    created,
    config,
    rootfs: { type: 'layers', diff_ids: digests.map((digest) => `sha256:${digest}`) },
    history: digests.map(() => ({ created })),
  })
  const configName = `${createHash('sha256').update(description).digest('hex')}.json`
  await writeFile(join(folder, configName), description)
  await writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify([{ Config: configName, RepoTags: [tag], Layers: names }]),
  )
  await packLayer(folder, `${file}.new`)
  await rename(`${file}.new`, file)
  await rm(folder, { recursive: true })
}

const hashFile = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
