// HTTP routes about projects.
import { Controller } from '@nestjs/common';
import { type ClientData, REST_PREFIX } from '#protocol';
import { Call, type RestCall } from './rest-call.js';
import { Route } from './rest-routing.js';
import { UseCases } from './use-cases.js';

@Controller()
export class ProjectsController {
  constructor(private readonly useCases: UseCases) {}

  @Route('listProjects')
  list(@Call() call: RestCall): Promise<ClientData<'project_list'>> {
    return this.useCases.answer('project_list', call);
  }

  @Route('createProject')
  async create(@Call() call: RestCall): Promise<ClientData<'project_create'>> {
    const project = await this.useCases.answer('project_create', call);
    call.response.location(`${REST_PREFIX}/projects/${project.project_id}`);
    return project;
  }

  @Route('getProject')
  get(@Call() call: RestCall): Promise<ClientData<'project_get'>> {
    return this.useCases.answer('project_get', call);
  }

  @Route('updateProject')
  update(@Call() call: RestCall): Promise<ClientData<'project_update'>> {
    return this.useCases.answer('project_update', call);
  }

  @Route('deleteProject')
  async remove(@Call() call: RestCall): Promise<void> {
    await this.useCases.answer('project_delete', call);
  }
}
