import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'

const introduction = `# Watchhouse on Kubernetes without Helm: rendered from the chart with k8s/install-values.yaml. Before it is applied:
#   kubectl create namespace watchhouse
#   kubectl -n watchhouse create secret generic watchhouse-hosts --from-file=hosts.yaml
#   kubectl -n watchhouse create secret generic watchhouse-host-passwords --from-literal=one=…
#   kubectl -n watchhouse create secret generic watchhouse-nats-users --from-literal=gateway=… (query, query-guest, agent, mcp, alert-dispatcher, ingest, report)
#   kubectl -n watchhouse create secret generic watchhouse-redis --from-literal=redis-password=…
#   kubectl -n watchhouse create secret generic watchhouse-postgresql --from-literal=postgres-password=…
#   kubectl -n watchhouse create secret generic watchhouse-cron --from-literal=CRON_SECRET=…
#   kubectl -n watchhouse create secret generic watchhouse-encryption --from-literal=SVC_USER_CONNECTIONS_ENCRYPTION_KEY=…
# In hosts.yaml passwordFile is /etc/watchhouse/host-passwords/<key>.
`
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
    'watchhouse',
    '--values',
    'k8s/install-values.yaml',
  ]
  const { stdout } = await promisify(execFile)(helm, [...parameters, '--no-hooks'], {
    cwd: root,
    maxBuffer: maxOutputBytes,
  })
  return { path: 'k8s/install.yaml', content: `${introduction}${stdout}` }
}

/** A generated file. The path is relative to the root of the repository. */
export interface GeneratedFile {
  path: string
  content: string
}
