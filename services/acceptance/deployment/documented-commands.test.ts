import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { runChartTool } from '../../testing/chart/helm.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { root } from '../../testing/source-file.ts'

const guide = await readFile(join(root, 'helm/INTRODUCTION.md'), 'utf8')

/** Returns the code blocks of the guide in a language, without their indentation. */
const readBlocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))].map(
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** All commands of the guide; continued lines are joined. */
const commands = readBlocks('sh').flatMap((block) => block.replaceAll(/ *\\\n */g, ' ').split('\n'))
const commandsOf = (start: string): string[] => commands.filter((command) => command.startsWith(start))
const [image = ''] = commandsOf('docker push ').map((command) => command.split(' ').at(-1))

/** A rendered pod template, as far as it names Secrets and images. */
const Rendered = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
const listSecretNames = (manifest: string): string[] => [
  ...new Set(
    [...manifest.matchAll(/secretKeyRef: \{ name: ([\w-]+)|secretName: ([\w-]+)/g)].flatMap(([, a, b]) => a ?? b ?? []),
  ),
]

describeWith(['helm'], 'the documented commands', () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-guide-'))
    const hosts = readBlocks('yaml').find((block) => block.startsWith('hosts:')) ?? ''
    await writeFile(join(directory, 'my-hosts.yaml'), hosts)
  })
  afterAll(() => rm(directory, { recursive: true }))

  /** Renders the objects of an install command without a cluster. */
  const dryRun = async (command: string): Promise<string> => {
    const words = command.replace('my-hosts.yaml', join(directory, 'my-hosts.yaml')).split(' ').slice(1)
    const { code, output } = await runChartTool('helm', [...words, '--dry-run=client'])
    expect(code, output).toBe(0)
    return output
  }

  it('build and push the image that the chart refers to', async () => {
    expect(commandsOf('docker build ')).toEqual([`docker build -f services/Dockerfile -t ${image} .`])
    for (const command of commandsOf('helm install ')) expect(await dryRun(command)).toContain(`image: ${image}\n`)
  })

  it('install every profile with the Secrets that they create', async () => {
    const installs = commandsOf('helm install ')
    expect(installs.map((command) => /values-(\w+)/.exec(command)?.[1])).toEqual([undefined, 'single', 'ha'])
    const created = commandsOf('kubectl ').map((command) => / create secret generic ([\w-]+)/.exec(command)?.[1])
    for (const command of installs) {
      const output = await dryRun(command)
      const manifest = output.slice(output.indexOf('MANIFEST:') + 9, output.indexOf('\nNOTES:'))
      const objects = loadAll(manifest).flatMap((one) => (one == null ? [] : Rendered.parse(one)))
      const rendered = objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name)
      expect(listSecretNames(manifest).length).toBeGreaterThan(2)
      for (const name of listSecretNames(manifest)) expect([...created, ...rendered], command).toContain(name)
    }
  })

  it('use the release and the namespace of the installation', () => {
    for (const command of commandsOf('helm ')) expect(command).toMatch(/^helm \w+ watchhouse .*--namespace watchhouse/)
  })

  it('name in the notes the Secrets that pods wait for', async () => {
    const [, , ha = ''] = commandsOf('helm install ')
    expect(await dryRun(ha)).toContain(
      'get secret clickhouse-passwords watchhouse-encryption watchhouse-postgresql watchhouse-redis\n',
    )
  })
})
