import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { channels } from '../../../alert-dispatcher/channels/index.ts'
import { root } from '../../shape/source-file.ts'
import { grafanaDashboards } from './dashboards/grafana.ts'
import { developmentServer, natsPermissions, officialChartValues } from './nats.ts'
import { chartReadme } from './readme.ts'
import { valuesSchema } from './schema.ts'
import { renderedManifest } from './manifest.ts'
import { variablesOfServices } from './services.ts'
import { readValues } from './values-file.ts'

/** One file that is written, from the repository's root. */
export interface Written {
  path: string
  content: string
}

/** Every generated file that has to do with the chart. */
export const chartFiles: readonly (() => Promise<Written | undefined>)[] = [
  async () =>
    json('values.schema.json', valuesSchema(readValues(await chartFile('values.yaml')), await variablesOfServices())),
  async () => ({
    path: 'helm/README.md',
    content: chartReadme(await chartFile('INTRODUCTION.md'), readValues(await chartFile('values.yaml'))),
  }),
  async () => json('files/nats-permissions.json', await natsPermissions()),
  async () => ({
    path: 'helm/files/nats-values.yaml',
    content: `${officialChartNote}${dump(officialChartValues(await natsPermissions()), { lineWidth: 120, noRefs: true })}`,
  }),
  async () => json('files/product.json', { consumers }),
  async () => ({ ...json('', developmentServer(await natsPermissions())), path: 'k8s/dev/nats.json' }),
  ...Object.entries(await grafanaDashboards()).map(
    ([name, dashboard]) =>
      async () =>
        json(`dashboards/${name}.json`, dashboard),
  ),
  // The last, for it is made of the others.
  renderedManifest,
]

const officialChartNote = `# Values for the official NATS chart: \`helm install nats nats/nats -f nats-values.yaml\`, beside this chart with nats.enabled: false.
# Passwords come from the Secret watchhouse-nats-users, which nats.existingSecret of this chart names too.
`

const chartFile = (name: string): Promise<string> => readFile(join(root, 'helm', name), 'utf8')

const json = (name: string, content: unknown): Written => ({
  path: `helm/${name}`,
  content: `${JSON.stringify(content, undefined, 2)}\n`,
})

/** Who takes messages from which stream, for scaling; a test compares them with what the product makes. */
export const consumers = {
  'alert-dispatcher': [
    // What people subscribe to is delivered like a channel that the operator has set.
    ...[...channels.map(({ id }) => id), 'subscriptions'].map((consumer) => ({ stream: 'DELIVER', consumer })),
    { stream: 'EVENTS', consumer: 'events-alerted' },
  ],
  // Not on what waits to be handed on: where its target is away, more pods would wait for it.
  ingest: [{ stream: 'EVENTS', consumer: 'events-kept' }],
}
