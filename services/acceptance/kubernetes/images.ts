import { chmod, copyFile, link, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from '../../testing/source-file.ts'
import { createDebianLayer } from './debian-layer.ts'
import { type ImageConfig, packLayer, writeImageArchive } from './image-archive.ts'
import { programs } from './machine.ts'
import { createProductLayer, productImageConfig } from './product-layer.ts'

/** The image of the product, as the README of the chart names it. */
export const productImage = { repository: 'registry.example.com/watchhouse', tag: '0.1.0' }

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const serverVariables = [path, 'LANG=C.UTF-8']

/** A program without dependencies. Its image contains nothing else. */
const staticImages = [
  { name: 'pause', at: 'pause', tag: 'registry.k8s.io/pause:test', config: { Entrypoint: ['/pause'], User: '65535' } },
  { name: 'coredns', at: 'coredns', tag: 'docker.io/library/coredns:test', config: { Entrypoint: ['/coredns'] } },
  {
    name: 'nats-server',
    at: 'usr/local/bin/nats-server',
    tag: 'docker.io/library/nats:2.12-alpine',
    config: { Env: [path], Cmd: ['nats-server'] },
  },
]
/** Servers from packages, under the names that the chart uses. Their versions are those of the Debian release. */
const serverImages: { name: string; tag: string; config: ImageConfig }[] = [
  {
    name: 'redis',
    tag: 'docker.io/library/redis:8-alpine',
    config: { Env: serverVariables, Cmd: ['redis-server'] },
  },
  {
    name: 'postgres',
    tag: 'docker.io/library/postgres:17-alpine',
    config: { Env: serverVariables, Entrypoint: ['docker-entrypoint.sh'], StopSignal: 'SIGINT' },
  },
]

/** The image of the last release. */
export const lastReleaseImage = { ...productImage, tag: 'last-release' }

/**
 * Creates the archives of all images of a cluster in a folder, and returns their paths. `lastRelease` is the repository
 * of the last release if its image is needed too. Needs no container engine.
 */
export const createImages = async (folder: string, lastRelease?: string): Promise<string[]> => {
  await mkdir(folder, { recursive: true })
  // A link, because the archives need all layers on one file system.
  const base = join(folder, 'debian.tar')
  const cached = await createDebianLayer()
  await link(cached, base).catch(() => copyFile(cached, base))
  const archives: string[] = []
  const write = async (name: string, tag: string, layers: readonly string[], config: ImageConfig) => {
    const archive = join(folder, `${name}.image.tar`)
    await writeImageArchive(tag, layers, config, archive)
    archives.push(archive)
  }
  for (const { name, at, tag, config } of staticImages) {
    const root = join(folder, name)
    await mkdir(dirname(join(root, at)), { recursive: true })
    await mkdir(join(root, 'tmp'))
    await chmod(join(root, 'tmp'), 0o1777)
    await copyFile(join(programs, name), join(root, at))
    await packLayer(root, join(folder, `${name}.tar`))
    await write(name, tag, [join(folder, `${name}.tar`)], config)
  }
  for (const { name, tag, config } of serverImages) await write(name, tag, [base], config)
  const writeProduct = async (name: string, image: typeof productImage, source: string) => {
    const product = await createProductLayer(join(folder, name), base, source)
    await write(name, `${image.repository}:${image.tag}`, [base, product], productImageConfig)
  }
  await writeProduct('product', productImage, root)
  if (lastRelease !== undefined) await writeProduct('last-release', lastReleaseImage, lastRelease)
  return archives
}
