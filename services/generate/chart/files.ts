import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { serviceDependencies } from '#proto/call.ts'
import { consumerPlans as planned } from '#shared/bus/durable/stream-access.ts'
import { listKeyHolders } from '#shared/bus/subject.ts'
import { root } from '../../testing/source-file.ts'
import { generateGrafanaDashboards } from './dashboards/grafana.ts'
import { renderManifest, type GeneratedFile } from './manifest.ts'
import { buildDeclaredNatsAccounts, createDevelopmentNatsConfig, createNatsChartValues } from './nats.ts'
import { formatChartReadme } from './readme.ts'
import { createValuesSchema } from './schema.ts'
import { readServiceVariables } from './services.ts'
import { parseValueEntries } from './values-file.ts'

/** Functions that return the generated files of the chart. */
export const chartFileGenerators: readonly (() => Promise<GeneratedFile | undefined>)[] = [
  async () =>
    json(
      'values.schema.json',
      createValuesSchema(parseValueEntries(await chartFile('values.yaml')), await readServiceVariables()),
    ),
  async () => ({
    path: 'helm/README.md',
    content: formatChartReadme(await chartFile('INTRODUCTION.md'), parseValueEntries(await chartFile('values.yaml'))),
  }),
  async () => json('files/nats-accounts.json', await buildDeclaredNatsAccounts()),
  async () => ({
    path: 'helm/files/nats-values.yaml',
    content: `${officialChartNote}${dump(createNatsChartValues(await buildDeclaredNatsAccounts()), { lineWidth: 120, noRefs: true })}`,
  }),
  async () => json('files/product.json', { consumers: scalingConsumers, calls }),
  async () => ({
    ...json('', createDevelopmentNatsConfig(await buildDeclaredNatsAccounts())),
    path: 'k8s/dev/nats.json',
  }),
  ...Object.entries(await generateGrafanaDashboards()).map(
    ([name, dashboard]) =>
      async () =>
        json(`dashboards/${name}.json`, dashboard),
  ),
  // The manifest is last, because helm renders it from the other files.
  renderManifest,
]

const officialChartNote = `# Values for the official NATS chart: \`helm install nats nats/nats -f nats-values.yaml\`, with nats.enabled: false in this chart.
# Passwords come from the Secret watchhouse-nats-users, to which nats.existingSecret of this chart must be set too.
`

const chartFile = (name: string): Promise<string> => readFile(join(root, 'helm', name), 'utf8')

const json = (name: string, content: unknown): GeneratedFile => ({
  path: `helm/${name}`,
  content: `${JSON.stringify(content, undefined, 2)}\n`,
})

/** Returns the consumers whose lag scales a service. A test compares them with the consumers on a server. */
const listScalingConsumers = (name: string) =>
  planned
    // `events-reemitted` does not scale: while the forwarding target is unavailable, more pods would only wait for it.
    .filter(({ service, name: consumer }) => service === name && consumer !== 'events-reemitted')
    .map(({ stream, name: consumer }) => ({ stream, consumer }))
export const scalingConsumers = {
  'alert-dispatcher': listScalingConsumers('alert-dispatcher'),
  ingest: listScalingConsumers('ingest'),
}

/**
 * The services whose call keys a caller needs, by caller. The gateway derives all keys from the signing key, so it
 * needs none.
 */
const calls = Object.fromEntries(
  Object.entries(serviceDependencies)
    .filter(([caller, called]) => caller !== 'gateway' && called.length > 0)
    .map(([caller, called]) => [caller, called.flatMap(listKeyHolders)]),
)
