import type { Fact, Message } from '../../delivery/message.ts'
import { escapeHtml } from '../escape.ts'

const colors = { warning: '#b45309', critical: '#b91c1c', over: '#15803d', plain: '#111827' } as const

/** The message as a page that mail programs show: no styles but those of an element, and nothing from elsewhere. */
export const htmlOf = ({ headline, facts, gathered, runbook, url, origin, tone }: Message): string =>
  [
    '<!doctype html><html><body style="font-family:sans-serif;font-size:14px;color:#111827">',
    `<h2 style="font-size:18px;color:${colors[tone]}">${escapeHtml(headline)}</h2>`,
    url === null ? '' : `<p><a href="${escapeHtml(url)}">Open in Watchhouse</a></p>`,
    `<table style="border-collapse:collapse">${facts.map(rowOf).join('')}</table>`,
    gathered.length === 0 ? '' : `<ul>${gathered.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`,
    runbook === '' ? '' : `<p style="white-space:pre-wrap">${escapeHtml(runbook)}</p>`,
    `<p style="font-size:12px;color:#6b7280">${escapeHtml(origin)}</p>`,
    '</body></html>',
  ]
    .filter((part) => part !== '')
    .join('\n')

const rowOf = ({ label, value }: Fact): string =>
  `<tr><td style="padding:2px 16px 2px 0;color:#6b7280">${escapeHtml(label)}</td><td>${escapeHtml(value)}</td></tr>`
