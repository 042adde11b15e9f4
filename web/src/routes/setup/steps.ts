import type { SetupItem } from '#lib/api/setup.ts'

/** A step of the setup: why it matters, and the page that does it. */
interface Step {
  title: string
  why: string
  action: string
  path: string
}

export const steps: Readonly<Record<SetupItem['id'], Step>> = {
  host: {
    title: 'Connect a host',
    why: 'Watchhouse reads the system tables of each host through one user.',
    action: 'Add host',
    path: '/hosts',
  },
  grants: {
    title: 'Complete the grants',
    why: 'Without these grants, ClickHouse leaves rows out of system tables. Run the statements as an administrator of the host.',
    action: 'Show hosts',
    path: '/hosts',
  },
  history: {
    title: 'Turn history on',
    why: 'Charts of the past read the log tables of the host: remove the settings that disable them, such as <query_log remove="1"/>. A history store keeps them for up to 400 days, and shows the last hour of a host that is down.',
    action: 'Show documentation',
    path: '/docs/deployment#history',
  },
  channel: {
    title: 'Test a notification channel',
    why: 'Alerts go to Slack, PagerDuty, mail and other channels.',
    action: 'Set up a channel',
    path: '/alerts/channels?set-up=webhook',
  },
  alerting: {
    title: 'Enable alerting',
    why: 'Rules are evaluated in sweeps. Notifications are sent once a channel is configured.',
    action: 'Show alert settings',
    path: '/alerts/rules',
  },
  agent: {
    title: 'Configure the agent',
    why: 'The agent answers questions about your hosts with a language model of your choice.',
    action: 'Set up the model gateway',
    path: '/agents/settings',
  },
}
