// For dependency-cruiser's command line (graphs, editors): the rules live with the check that proves them.
export { boundaries as default } from './tools/checks/boundary-rules.ts';
