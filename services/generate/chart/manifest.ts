import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'
import { buildDeclaredNatsAccounts } from './nats.ts'
import { formatSecretCommands, manifestNamespace } from './secret-commands.ts'

const introduction = `# Watchhouse on Kubernetes without Helm: rendered from the chart with k8s/install-values.yaml. It needs the image
# IMAGE, a default StorageClass, and the Secrets that these commands create. Print them without the comment characters:
#   sed -n 's/^#     //p' k8s/install.yaml
# In hosts.yaml, passwordFile is /etc/watchhouse/host-passwords/<key>. Afterwards: kubectl apply -f k8s/install.yaml
`

/** Returns the introduction to a manifest, with commands as comments. */
const formatIntroduction = async (manifest: string): Promise<string> => {
  const { users } = await buildDeclaredNatsAccounts()
  const commands = formatSecretCommands(Object.keys(users)).flatMap((command) => command.split('\n'))
  const [, image = ''] = /image: (watchhouse:\S+)/.exec(manifest) ?? []
  return introduction.replace('IMAGE', image) + commands.map((line) => `#     ${line}\n`).join('')
}

const maxOutputBytes = 8 * 1024 * 1024

/**
 * Returns the rendered chart, which uses existing Secrets and creates none; undefined if helm is not installed. `chart`
 * is a folder or a package.
 */
export const renderManifest = async (chart = 'helm'): Promise<GeneratedFile | undefined> => {
  const helm = findProgram('helm')
  if (helm === undefined) {
    process.stderr.write('SKIPPED: k8s/install.yaml (helm not found)\n')
    return undefined
  }
  const parameters = [
    'template',
    'watchhouse',
    chart,
    '--namespace',
    manifestNamespace,
    '--values',
    'k8s/install-values.yaml',
  ]
  const { stdout } = await promisify(execFile)(helm, [...parameters, '--no-hooks'], {
    cwd: root,
    maxBuffer: maxOutputBytes,
  })
  return { path: 'k8s/install.yaml', content: `${await formatIntroduction(stdout)}${stdout}` }
}

/** A generated file. The path is relative to the root of the repository. */
export interface GeneratedFile {
  path: string
  content: string
}
